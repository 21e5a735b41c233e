//! The page of the tables is what the schema says.

use std::path::Path;

#[test]
fn the_page_is_made_from_the_schema() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sql.md");
    let page = oxperf_columns::docs::sql_page();
    if std::env::var_os("OXPERF_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == page,
        "docs/sql.md is old: OXPERF_BLESS=1 cargo test -p oxperf-columns writes it"
    );
}
