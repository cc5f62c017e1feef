//! The configuration: one TOML file, and the environment over it. docs/configuration.md documents every key.

use std::{
    collections::BTreeMap,
    fmt,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use scanner_core::{Limits, Resource};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, Visitor},
};

/// Variables of the environment that stand for keys begin so: `SCANNER__BODY__IDLE` is `idle` in `[body]`.
const PREFIX: &str = "SCANNER__";

/// Everything an operator can set.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Config {
    /// Where requests are taken. Beyond loopback only with tokens.
    pub listen: SocketAddr,
    /// Where health and metrics are answered; no content, no token.
    pub admin: SocketAddr,
    /// The policy of who names none.
    pub policy: String,
    /// Policy files beside those that ship.
    pub policies: Vec<PathBuf>,
    /// Rule files beside those that ship, or folders of them.
    pub rules: Vec<PathBuf>,
    /// Whether `/docs` is answered.
    pub docs: bool,
    /// Limits of one scan.
    pub limits: BTreeMap<Limit, Amount>,
    /// The processes that parse.
    pub workers: Workers,
    /// Bodies on their way in.
    pub body: Body,
    /// Connections.
    pub connections: Connections,
    /// How the service ends.
    pub shutdown: Shutdown,
    /// What is logged.
    pub log: Log,
    /// Who may ask.
    pub tokens: Vec<Token>,
}

/// `[workers]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Workers {
    /// How many; each scans one input at a time.
    pub count: usize,
    /// How many inputs may wait.
    pub queue: usize,
    /// How long one may wait.
    pub wait: Time,
    /// The executable, if it is not this one.
    pub executable: Option<PathBuf>,
}

/// `[body]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Body {
    /// How much of one body stays in memory; what is more waits in a file without a name.
    pub memory: Amount,
    /// Where that file is made, if not in the system's folder for temporary files.
    pub folder: Option<PathBuf>,
    /// How long the next bytes may take.
    pub idle: Time,
    /// How long a body may take before its pace counts.
    pub start: Time,
    /// Bytes a second it must keep up from then on.
    pub pace: u64,
    /// How many bodies may be on their way in at once.
    pub uploads: usize,
    /// Bytes of all `attach:REF` parts of one request.
    pub attached: Amount,
    /// Parts of a multipart body.
    pub parts: usize,
}

/// `[connections]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Connections {
    /// How many at once.
    pub most: usize,
    /// How long the head of a request may take.
    pub head: Time,
    /// How long a connection may stay without a request, and an answer unread.
    pub idle: Time,
}

/// `[shutdown]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Shutdown {
    /// How long connections are still taken after SIGTERM, while `/readyz` already says no.
    pub grace: Time,
    /// How long the requests under way may take then.
    pub finish: Time,
}

/// `[log]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Log {
    /// How much.
    pub level: Level,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nothing.
    Off,
    /// What is broken here.
    Error,
    /// Also what may need a person.
    Warn,
    /// Also one line per request.
    Info,
    /// Also connections.
    Debug,
}

/// `[[tokens]]`: who may ask, and for what.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Token {
    /// Whose it is.
    pub tenant: String,
    /// SHA-256 of the token, in hexadecimal.
    pub sha256: String,
    /// The policy of requests that name none.
    pub policy: Option<String>,
    /// Other policies it may ask for. None may be looser.
    #[serde(default)]
    pub policies: Vec<String>,
    /// Requests a second, on average; ten seconds' worth may come at once. 0 is no limit.
    #[serde(default)]
    pub rate: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 8080).into(),
            admin: (Ipv4Addr::LOCALHOST, 8081).into(),
            policy: "default".to_owned(),
            policies: Vec::new(),
            rules: Vec::new(),
            docs: true,
            limits: BTreeMap::new(),
            workers: Workers::default(),
            body: Body::default(),
            connections: Connections::default(),
            shutdown: Shutdown::default(),
            log: Log { level: Level::Info },
            tokens: Vec::new(),
        }
    }
}

impl Default for Workers {
    fn default() -> Self {
        Self {
            count: std::thread::available_parallelism().map_or(2, usize::from),
            queue: 64,
            // A client that waits longer has given up.
            wait: Time(Duration::from_secs(30)),
            executable: None,
        }
    }
}

impl Default for Body {
    fn default() -> Self {
        Self {
            // An ordinary tool result never touches the disk.
            memory: Amount(256 << 10),
            folder: None,
            idle: Time(Duration::from_secs(10)),
            start: Time(Duration::from_secs(15)),
            pace: 16 << 10,
            uploads: 128,
            attached: Amount(64 << 20),
            parts: 1_000,
        }
    }
}

impl Default for Connections {
    fn default() -> Self {
        Self { most: 1_024, head: Time(Duration::from_secs(5)), idle: Time(Duration::from_secs(60)) }
    }
}

impl Default for Shutdown {
    fn default() -> Self {
        // 30 s is what orchestrators grant before they kill.
        Self { grace: Time(Duration::ZERO), finish: Time(Duration::from_secs(25)) }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self { level: Level::Info }
    }
}

/// A name of `[limits]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Limit(pub Resource);

/// A number, or one with a unit: `"64MiB"`, `"10s"` where the limit counts seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount(pub u64);

/// A time: `"10s"`, `"250ms"`, `"2m"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub Duration);

/// A number and its unit.
fn split(text: &str) -> Option<(u64, &str)> {
    let digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    Some((number.parse().ok()?, unit.trim_start()))
}

impl Amount {
    fn read(text: &str) -> Option<Self> {
        let (number, unit) = split(text)?;
        let factor: u64 = match unit {
            "" | "s" | "B" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            _ => return None,
        };
        number.checked_mul(factor).filter(|number| *number < 1 << 53).map(Self)
    }
}

impl Time {
    fn read(text: &str) -> Option<Self> {
        let (number, unit) = split(text)?;
        let milliseconds: u64 = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            _ => return None,
        };
        // A day is longer than anything here should take.
        number
            .checked_mul(milliseconds)
            .filter(|number| *number <= 86_400_000)
            .map(|ms| Self(Duration::from_millis(ms)))
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Resource::named(&name).map(Self).ok_or_else(|| {
            let names: Vec<&str> = Resource::ALL.iter().map(|resource| resource.name()).collect();
            D::Error::custom(format!(
                "unknown limit \"{}\", expected one of: {}",
                scanner_core::visible(&name),
                names.join(", ")
            ))
        })
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Amounts;
        impl Visitor<'_> for Amounts {
            type Value = Amount;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number below 2^53, or one with a unit like \"64MiB\"")
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Amount, E> {
                u64::try_from(number)
                    .ok()
                    .filter(|number| *number < 1 << 53)
                    .map(Amount)
                    .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Signed(number), &self))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Amount, E> {
                Amount::read(text).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Amounts)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Times;
        impl Visitor<'_> for Times {
            type Value = Time;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time like \"10s\", \"250ms\" or \"2m\", at most a day")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Time, E> {
                Time::read(text).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Times)
    }
}

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
        if self.workers.count == 0 || self.body.uploads == 0 || self.connections.most == 0 || self.body.parts == 0 {
            return Err(ConfigError(
                "workers.count, body.uploads, body.parts and connections.most must be at least 1".to_owned(),
            ));
        }
        Ok(())
    }

    /// The limits of one scan.
    pub fn limits(&self) -> Limits {
        self.limits.iter().fold(Limits::default(), |limits, (limit, amount)| limits.with(limit.0, amount.0))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, environment: &[(&str, &str)]) -> Result<Config, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scanner.toml");
        std::fs::write(&path, text).unwrap();
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let wrong = |error: ConfigError| error.to_string().replace(&format!("{}/", folder.path().display()), "");
        Config::read(Some(&path), environment).map_err(wrong)
    }

    #[track_caller]
    fn check(text: &str, environment: &[(&str, &str)], expect: &str) {
        let error = read(text, environment).unwrap_err();
        assert!(error.starts_with(expect), "{error}");
    }

    #[test]
    fn nothing_set_is_the_defaults() {
        let config = Config::read(None, []).unwrap();
        assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
        assert_eq!(config.limits(), Limits::default());
    }

    #[test]
    fn units_are_read() {
        let config =
            read("[limits]\nenvelope_bytes = \"2MiB\"\nwall = \"3s\"\ndepth = 4\n[body]\nidle = \"250ms\"\n", &[])
                .unwrap();
        assert_eq!(config.limits().get(Resource::EnvelopeBytes), 2 << 20);
        assert_eq!(config.limits().get(Resource::Wall), 3);
        assert_eq!(config.limits().get(Resource::Depth), 4);
        assert_eq!(config.body.idle.0, Duration::from_millis(250));
    }

    #[test]
    fn the_environment_is_over_the_file() {
        let set = [
            ("SCANNER__BODY__PACE", "7"),
            ("SCANNER__LISTEN", "[::1]:9"),
            ("SCANNER__POLICIES", "['a.toml']"),
            ("OTHER", "1"),
        ];
        let config = read("[body]\npace = 3\nuploads = 5\n", &set).unwrap();
        assert_eq!((config.body.pace, config.body.uploads), (7, 5));
        assert_eq!(config.listen.to_string(), "[::1]:9");
        assert_eq!(config.policies, [PathBuf::from("a.toml")]);
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        check(
            "listen = '127.0.0.1:0'\nlisten_on = 3\n",
            &[],
            "scanner.toml:2:1: unknown key \"listen_on\", expected one of \"listen\"",
        );
        check(
            "[body]\n  idle = 3\n",
            &[],
            "scanner.toml:2:10: invalid type: integer \"3\", expected a time like \"10s\"",
        );
        check("[body]\nidle = '3 weeks'\n", &[], "scanner.toml:2:8: invalid value");
        check("[limits]\ndeph = 3\n", &[], "scanner.toml:2:1: unknown limit \"deph\", expected one of: envelope_bytes");
        check("[limits]\ndepth = -3\n", &[], "scanner.toml:2:9: invalid value");
        check("[[tokens]]\ntenant = 'a'\n", &[], "scanner.toml:1:1: missing field \"sha256\"");
        check("a = [", &[], "scanner.toml:1:6: ");
        check("", &[("SCANNER__BODI__IDLE", "3s")], "SCANNER__BODI__IDLE: unknown key \"bodi\"");
        check("", &[("SCANNER__BODY__IDLE", "3")], "SCANNER__BODY__IDLE: invalid type: integer");
    }

    #[test]
    fn beyond_loopback_needs_a_token() {
        check("listen = '0.0.0.0:80'\n", &[], "listen = \"0.0.0.0:80\" is reachable from other machines");
        check("listen = '[::]:80'\n", &[], "listen = \"[::]:80\" is reachable");
        let token = format!("listen = '0.0.0.0:80'\n[[tokens]]\ntenant = 'a'\nsha256 = '{}'\n", "0".repeat(64));
        assert!(read(&token, &[]).is_ok());
    }

    /// docs/configuration.md has the defaults, and every key under its heading.
    #[test]
    fn every_key_is_documented_with_its_default() {
        let document =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/configuration.md")).unwrap();
        let defaults = document.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
        let mut all = read(defaults, &[]).unwrap();
        all.workers.count = Workers::default().count;
        assert_eq!(format!("{all:?}"), format!("{:?}", Config::default()));
        for (section, heading) in [
            ("", "### Top level\n"),
            ("[workers]\n", "### `[workers]`\n"),
            ("[body]\n", "### `[body]`\n"),
            ("[connections]\n", "### `[connections]`\n"),
            ("[shutdown]\n", "### `[shutdown]`\n"),
            ("[log]\n", "### `[log]`\n"),
            ("[[tokens]]\n", "### `[[tokens]]`\n"),
        ] {
            let error = read(&format!("{section}zzzz = 1\n"), &[]).unwrap_err();
            let known: Vec<&str> = error.split_once("expected ").unwrap().1.split('"').skip(1).step_by(2).collect();
            let text = document.split(heading).nth(1).unwrap_or_else(|| panic!("no {heading}"));
            let rows = text
                .split("\n### ")
                .next()
                .unwrap()
                .lines()
                .filter_map(|line| line.strip_prefix("| `")?.split('`').next());
            assert_eq!(rows.collect::<Vec<_>>(), known, "{heading}");
        }
        for resource in Resource::ALL {
            assert!(document.contains(&format!("`{resource}`")), "{resource}");
        }
    }
}
