use super::*;

const TODAY: u64 = 20_000 * DAY;

fn settings(folder: &Path) -> config::Journal {
    config::Journal { folder: Some(folder.to_owned()), ..config::Journal::default() }
}

fn open(folder: &Path) -> Journal {
    Journal::open(&settings(folder)).unwrap().unwrap()
}

fn write(journal: &Journal, text: &str, now: u64) {
    journal.write(&format!("{{\"x\":\"{text}\"}}"), Some("tenant"), "r-1", now).unwrap();
}

fn files(folder: &Path) -> usize {
    segments(folder).unwrap().len()
}

#[test]
fn lines_are_bound_to_each_other_over_files_and_starts() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = settings(folder.path());
    settings.segment.0 = 600;
    for round in 0..3 {
        let journal = Journal::open(&settings).unwrap().unwrap();
        (0..4).for_each(|number| write(&journal, &format!("{round}-{number}"), TODAY));
    }
    assert!(files(folder.path()) > 2);
    let seen = check(folder.path()).unwrap();
    assert_eq!((seen.lines, seen.first, &*seen.day), (12, 1, "2024-10-04"));
    // One changed byte, wherever it is, is told.
    for (_, path) in segments(folder.path()).unwrap().into_iter().rev().skip(1) {
        let before = fs::read(&path).unwrap();
        fs::write(&path, String::from_utf8(before.clone()).unwrap().replacen("-", "+", 1)).unwrap();
        let error = check(folder.path()).unwrap_err().to_string();
        assert!(error.contains("the line before it was changed") || error.contains("not a line"), "{error}");
        fs::write(&path, before).unwrap();
    }
    assert!(check(folder.path()).is_ok());
}

#[test]
fn a_line_that_was_cut_off_is_none() {
    let folder = tempfile::tempdir().unwrap();
    write(&open(folder.path()), "first", TODAY);
    let (_, path) = segments(folder.path()).unwrap().remove(0);
    let whole = fs::read(&path).unwrap();
    for cut in 1..whole.len() {
        fs::write(&path, [&whole[..], &whole[..cut]].concat()).unwrap();
        write(&open(folder.path()), "second", TODAY);
        assert_eq!(check(folder.path()).unwrap().lines, 2, "cut at {cut}");
        fs::write(&path, &whole).unwrap();
    }
    // A file of nothing but half a line, after a whole one.
    fs::write(folder.path().join(segment(2)), &whole[..20]).unwrap();
    write(&open(folder.path()), "second", TODAY);
    assert_eq!(check(folder.path()).unwrap().lines, 2);
}

#[test]
fn time_does_not_go_back() {
    let folder = tempfile::tempdir().unwrap();
    let journal = open(folder.path());
    write(&journal, "a", TODAY + 7200);
    write(&journal, "b", TODAY);
    write(&journal, "c", 0);
    drop(journal);
    write(&open(folder.path()), "d", TODAY + 1);
    assert_eq!(check(folder.path()).unwrap().lines, 4);
}

#[test]
fn old_files_go_and_the_chain_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = settings(folder.path());
    settings.days = 3;
    let journal = Journal::open(&settings).unwrap().unwrap();
    (0..10).for_each(|day| write(&journal, "x", TODAY + day * DAY));
    let seen = check(folder.path()).unwrap();
    assert_eq!((seen.lines, seen.first), (4, 7), "today and three days before it");
    // After a long pause all the others are too old: the last one stays until there is a next.
    write(&journal, "y", TODAY + 100 * DAY);
    let seen = check(folder.path()).unwrap();
    assert_eq!((seen.lines, seen.first), (1, 11));
    write(&journal, "z", TODAY + 100 * DAY);
    assert_eq!(check(folder.path()).unwrap().lines, 2);
}

#[test]
fn what_is_no_journal_is_not_written_to() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(segment(1)), "hello\n").unwrap();
    assert!(Journal::open(&settings(folder.path())).unwrap_err().to_string().contains("not a journal"));
    assert!(check(folder.path()).is_err());
    let elsewhere = tempfile::tempdir().unwrap();
    let journal = open(elsewhere.path());
    assert!(journal.write("{", None, "r", TODAY).is_err(), "no receipt");
    assert_eq!(check(elsewhere.path()).unwrap().lines, 0);
}
