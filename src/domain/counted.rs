//! A number with what it counts, as messages say it.

/// `1 second`, `2 seconds`; for words whose plural adds an s.
pub fn counted(count: u64, one: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {one}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_a_kind_is_singular() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "second")), ["0 seconds", "1 second", "2 seconds"]);
    }
}
