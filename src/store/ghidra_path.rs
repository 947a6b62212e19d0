//! Ghidra's own rules for the path of a project, the strictest of the supported engines.
//!
//! Needed only where a store path reaches Ghidra: outside bubblewrap, where the sandbox
//! does not substitute a path of its own.

/// How a path component breaks Ghidra's rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GhidraPathViolation {
    /// Hidden components are refused.
    #[error("component '{component}' starts with '.', which Ghidra refuses")]
    LeadingDot {
        /// The component.
        component: String,
    },
    /// Only spaces.
    #[error("a component of only spaces, which Ghidra refuses")]
    Blank,
    /// A character outside Ghidra's set.
    #[error("component '{component}' contains '{character}', which Ghidra refuses")]
    Character {
        /// The component.
        component: String,
        /// The first such character.
        character: char,
    },
}

/// The first rule that `path` (absolute, `/`-separated) breaks.
pub(super) fn violation(path: &str) -> Option<GhidraPathViolation> {
    path.split('/').filter(|component| !component.is_empty()).find_map(component_violation)
}

fn component_violation(component: &str) -> Option<GhidraPathViolation> {
    if component.trim().is_empty() {
        return Some(GhidraPathViolation::Blank);
    }
    if component.starts_with('.') {
        return Some(GhidraPathViolation::LeadingDot { component: component.to_owned() });
    }
    let character = component.chars().find(|character| !is_allowed(*character))?;
    Some(GhidraPathViolation::Character { component: component.to_owned(), character })
}

fn is_allowed(character: char) -> bool {
    const SYMBOLS: &str = ".-=@ _()[]~";
    if character.is_ascii() {
        return character.is_ascii_alphanumeric() || SYMBOLS.contains(character);
    }
    // Java's isLetterOrDigit is narrower than Unicode's Alphabetic (it leaves out combining
    // marks); within these scripts the two agree for every character.
    let scripts = [
        '\u{c0}'..='\u{24f}',
        '\u{370}'..='\u{3ff}',
        '\u{400}'..='\u{4ff}',
        '\u{3041}'..='\u{3096}',
        '\u{30a1}'..='\u{30fa}',
        '\u{4e00}'..='\u{9fff}',
        '\u{ac00}'..='\u{d7a3}',
    ];
    character.is_alphabetic() && scripts.iter().any(|script| script.contains(&character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_paths_pass() {
        for path in ["/home/user/ghidr-store", "/srv/a b/(x)[y]=@~_", "/home/jörg/解析", "/"] {
            assert_eq!(violation(path), None, "{path}");
        }
    }

    #[test]
    fn hidden_components_commas_and_foreign_symbols_are_refused() {
        assert!(matches!(violation("/home/u/.cache/ghidr"), Some(GhidraPathViolation::LeadingDot { .. })));
        assert!(matches!(violation("/home/../x"), Some(GhidraPathViolation::LeadingDot { .. })));
        assert_eq!(violation("/a/ /b"), Some(GhidraPathViolation::Blank));
        for character in [',', ':', '\\', '+', '!', '%', '\n', '\u{a0}', '×', '\u{308}'] {
            let path = format!("/a/b{character}c");
            assert_eq!(
                violation(&path),
                Some(GhidraPathViolation::Character { component: format!("b{character}c"), character })
            );
        }
    }
}
