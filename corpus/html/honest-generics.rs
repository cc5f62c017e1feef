fn main() {
    let rows: Vec<String> = Vec::new();
    if a < b && c > d { println!("{}", rows.len()); }
}
