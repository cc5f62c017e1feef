//! Reads the file and the environment, and says what is wrong with them.

use std::{fmt, path::Path};

use scanner_core::{Limits, Resource};
use serde::Deserialize;

use super::Config;

/// Variables of the environment that stand for keys begin so: `SCANNER__BODY__IDLE` is `idle` in `[body]`.
const PREFIX: &str = "SCANNER__";

/// What is wrong with the configuration, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(pub(crate) String);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

impl ConfigError {
    /// An error of a TOML text, at its line and column.
    fn of(file: &str, text: &str, error: &toml::de::Error) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self(format!("{file}:{line}:{column}: {}", in_words(error)))
    }
}

/// One line, in the words of the other configuration files.
fn in_words(error: &toml::de::Error) -> String {
    let message = error.message().replace('`', "\"").replace("unknown field", "unknown key").replace('\n', " ");
    scanner_core::visible(&message)
}

impl Config {
    /// Reads a file, and what the environment sets over it.
    ///
    /// # Errors
    /// The first mistake: in the file with line and column, in the environment with the name of the variable.
    pub fn read(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let (name, text) = match file {
            Some(path) => {
                let name = scanner_core::visible(&path.to_string_lossy());
                let text = std::fs::read_to_string(path).map_err(|error| ConfigError(format!("{name}: {error}")))?;
                (name, text)
            }
            None => (String::new(), String::new()),
        };
        // The file alone first: its mistakes have a line, those of the environment a name.
        let alone: Self = toml::from_str(&text).map_err(|error| ConfigError::of(&name, &text, &error))?;
        let variables: Vec<(String, String)> =
            environment.into_iter().filter(|(variable, _)| variable.starts_with(PREFIX)).collect();
        let mut table: toml::Table = toml::from_str(&text).map_err(|error| ConfigError::of(&name, &text, &error))?;
        for (variable, value) in &variables {
            let of_one = set(toml::Table::new(), variable, value);
            Self::deserialize(toml::Value::Table(of_one))
                .map_err(|error| ConfigError(format!("{}: {}", scanner_core::visible(variable), in_words(&error))))?;
            table = set(table, variable, value);
        }
        let config = if variables.is_empty() {
            alone
        } else {
            Self::deserialize(toml::Value::Table(table)).map_err(|error| ConfigError(in_words(&error)))?
        };
        config.check()?;
        Ok(config)
    }

    /// What no type can say.
    fn check(&self) -> Result<(), ConfigError> {
        if !self.listen.ip().is_loopback() && self.tokens.is_empty() {
            return Err(ConfigError(format!(
                "listen = \"{}\" is reachable from other machines and there are no tokens: anyone could use the service. \
                 Add [[tokens]] (scanner-http token makes one), or listen on 127.0.0.1.",
                self.listen
            )));
        }
        if self.journal.folder.is_some() && (self.journal.days == 0 || self.journal.segment.0 == 0) {
            return Err(ConfigError("journal.days and journal.segment must be at least 1".to_owned()));
        }
        if self.letters.most == 0 || self.letters.at_once == 0 || self.letters.pixels.0 == 0 {
            return Err(ConfigError("letters.most, letters.at_once and letters.pixels must be at least 1".to_owned()));
        }
        if self.workers.jobs == 0 || self.clamav.failures == 0 {
            return Err(ConfigError("workers.jobs and clamav.failures must be at least 1".to_owned()));
        }
        if self.workers.count == 0 || self.body.uploads == 0 || self.connections.most == 0 || self.body.parts == 0 {
            return Err(ConfigError(
                "workers.count, body.uploads, body.parts and connections.most must be at least 1".to_owned(),
            ));
        }
        Ok(())
    }

    /// The limits of one scan.
    pub fn limits(&self) -> Limits {
        let asked = self.letters.settings(&self.workers).map(|_| self.letters.pixels.0);
        let default = Limits::default().with(Resource::LetterPixels, asked.unwrap_or(0));
        self.limits.iter().fold(default, |limits, (limit, amount)| limits.with(limit.0, amount.0))
    }
}

/// Sets the key that a variable stands for. What reads as a number, a truth value or a list is one.
fn set(mut table: toml::Table, variable: &str, value: &str) -> toml::Table {
    let literal =
        match toml::from_str::<toml::Table>(&format!("value = {value}")).ok().and_then(|mut read| read.remove("value"))
        {
            Some(literal @ (toml::Value::Integer(_) | toml::Value::Boolean(_) | toml::Value::Array(_))) => literal,
            _ => toml::Value::String(value.to_owned()),
        };
    let key = variable.strip_prefix(PREFIX).unwrap_or_default().to_ascii_lowercase();
    match key.split_once("__") {
        Some((section, key)) => {
            let below = table.entry(section).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            if let toml::Value::Table(below) = below {
                below.insert(key.to_owned(), literal);
            }
        }
        None => {
            table.insert(key, literal);
        }
    }
    table
}
