//! SQL by its statements: what follows the verb must fit it.

use super::Scores;
use crate::sniff::peek::find;

/// Adds what the statements tell.
pub(super) fn statements(head: &[u8], scores: &mut Scores) {
    let mut found = 0_u32;
    let mut begin = true;
    for line in super::lines(head).take(super::LINES) {
        let line = line.trim_ascii();
        if line.starts_with(b"--") || line.is_empty() || line.starts_with(b"/*") && line.ends_with(b"*/") {
            continue;
        }
        let line = line
            .strip_prefix(b"/*")
            .and_then(|rest| find(rest, b"*/").and_then(|at| rest.get(at.saturating_add(2)..)))
            .unwrap_or(line)
            .trim_ascii_start();
        let line = line.get(..super::LINE_BYTES).unwrap_or(line);
        if begin || line.first().is_some_and(u8::is_ascii_uppercase) {
            found = found.saturating_add(statement(line, head));
        }
        begin = line.ends_with(b";") || line.eq_ignore_ascii_case(b"go");
    }
    scores.add("sql", found.min(40));
}

fn statement(line: &[u8], head: &[u8]) -> u32 {
    let upper = line.to_ascii_uppercase();
    let words: Vec<&[u8]> = upper
        .split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'(' | b';'))
        .filter(|word| !word.is_empty())
        .take(4)
        .collect();
    let (Some(first), second, third) =
        (words.first(), words.get(1).copied().unwrap_or_default(), words.get(2).copied().unwrap_or_default())
    else {
        return 0;
    };
    // Shouted key words are no prose; whispered ones need the marks of a statement.
    let shouted = line.starts_with(first);
    let marked = shouted
        || line.ends_with(b";")
        || line.ends_with(b"(")
        || line.ends_with(b",")
        || line.ends_with(b"$$")
        || upper.starts_with(b"CREATE OR REPLACE ");
    let object = |word: &[u8]| {
        matches!(
            word,
            b"TABLE"
                | b"VIEW"
                | b"INDEX"
                | b"DATABASE"
                | b"SCHEMA"
                | b"FUNCTION"
                | b"PROCEDURE"
                | b"PROC"
                | b"TRIGGER"
                | b"TYPE"
                | b"EXTENSION"
                | b"UNIQUE"
                | b"OR"
                | b"TEMP"
                | b"TEMPORARY"
                | b"SEQUENCE"
                | b"USER"
                | b"ROLE"
                | b"MATERIALIZED"
                | b"EXTERNAL"
                | b"CLUSTERED"
                | b"NONCLUSTERED"
                | b"VIRTUAL"
                | b"PACKAGE"
                | b"DOMAIN"
                | b"GLOBAL"
                | b"IF"
                | b"COLUMN"
                | b"CONSTRAINT"
                | b"OPERATOR"
                | b"AGGREGATE"
                | b"CAST"
                | b"POLICY"
                | b"RULE"
                | b"SERVER"
                | b"TABLESPACE"
                | b"COLLATION"
                | b"LANGUAGE"
                | b"STATISTICS"
                | b"EVENT"
                | b"PUBLICATION"
                | b"SUBSCRIPTION"
                | b"DEFAULT"
                | b"SYNONYM"
                | b"KEYSPACE"
                | b"LOGIN"
        )
    };
    match *first {
        b"SELECT" => {
            let text = head.get(..2000).unwrap_or(head).to_ascii_uppercase();
            let from = find(&upper, b" FROM ").is_some() || find(&text, b"FROM ").is_some();
            let exact = [&b"*"[..], b"=", b"(", b" WHERE ", b" JOIN "].iter().any(|mark| find(&upper, mark).is_some());
            let list = upper.contains(&b',') || upper.contains(&b'.') || second.is_empty();
            let ended = line.ends_with(b";") || head.trim_ascii_end().ends_with(b";");
            match (from, shouted) {
                (true, true) if exact || list || ended => 5,
                (true, false) if ended && (exact || list || words.len() <= 4) => 5,
                (false, _) if ended && exact => 4,
                _ => 0,
            }
        }
        b"INSERT"
            if matches!(second, b"INTO" | b"IGNORE" | b"OVERWRITE" | b"OR")
                && (marked || find(&upper, b"VALUES").is_some()) =>
        {
            5
        }
        b"CREATE" | b"ALTER" | b"DROP" if object(second) && marked => 5,
        b"UPDATE" if find(&upper, b" SET ").is_some() && line.contains(&b'=') => 5,
        b"UPDATE" if shouted && third == b"SET" => 4,
        b"DELETE" if second == b"FROM" && marked => 4,
        b"WITH" if (third == b"AS" || second == b"RECURSIVE") && (line.contains(&b'(') || shouted) => 5,
        b"TRUNCATE" if second == b"TABLE" => 5,
        b"GRANT" | b"REVOKE" if find(&upper, b" ON ").is_some() && marked => 4,
        b"SET"
            if matches!(
                second,
                b"NAMES"
                    | b"SQL_MODE"
                    | b"FOREIGN_KEY_CHECKS"
                    | b"SEARCH_PATH"
                    | b"NOCOUNT"
                    | b"ANSI_NULLS"
                    | b"QUOTED_IDENTIFIER"
                    | b"TIME_ZONE"
                    | b"STATEMENT_TIMEOUT"
                    | b"TERM"
            ) =>
        {
            4
        }
        b"PRAGMA" if line.ends_with(b";") && !line.contains(&b'"') && shouted => 4,
        b"MERGE" if second == b"INTO" => 4,
        b"LOCK" | b"UNLOCK" if second == b"TABLES" => 4,
        b"COMMENT" if second == b"ON" && marked => 4,
        b"BEGIN" | b"COMMIT" | b"ROLLBACK" if line.ends_with(b";") && words.len() <= 2 => 2,
        b"COPY" if find(&upper, b" FROM STDIN").is_some() => 5,
        b"USE" if line.ends_with(b";") && words.len() == 2 && (shouted || line.contains(&b'`')) => 2,
        b"EXEC" | b"DECLARE" if line.contains(&b'@') => 3,
        _ => 0,
    }
}
