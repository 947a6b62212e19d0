//! The closing notice under a table that is one page of a collection.

use crate::domain::page::Page;

/// What a page of `items` leaves out and how to continue; nothing when it leaves out nothing.
pub(super) fn page_notice(page: &Page, items: &str) -> String {
    if page.has_more {
        let next = page.offset.saturating_add(page.returned);
        format!("{} of {} {items} shown; more: --offset {next}, or --all\n", page.returned, page.total)
    } else if page.returned == 0 && page.total > 0 {
        format!("no {items} at offset {}; there are {}\n", page.offset, page.total)
    } else {
        String::new()
    }
}
