//! Makes untrusted text safe for a terminal: control characters, bidirectional overrides and
//! line separators become visible escapes. JSON output never passes through here.

use std::borrow::Cow;

/// Escapes `text` for one line of human output.
pub fn line(text: &str) -> Cow<'_, str> {
    escape(text, |_| false)
}

/// Escapes `text` for several lines of human output: line feeds and tabs stay.
pub fn lines(text: &str) -> Cow<'_, str> {
    escape(text, |character| matches!(character, '\n' | '\t'))
}

fn escape(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_unsafe = |character| deceives(character) && !keep(character);
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_unsafe(character) {
            escaped.extend(character.escape_unicode());
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

/// Characters that move the cursor, reorder text, break lines or cannot be seen.
fn deceives(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{00ad}'
                | '\u{061c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_bidi_overrides_become_visible() {
        assert_eq!(line("a\x1b[31mb"), "a\\u{1b}[31mb");
        assert_eq!(line("evil\u{202e}txt"), "evil\\u{202e}txt");
        assert_eq!(line("two\nlines\u{9b}"), "two\\u{a}lines\\u{9b}");
    }

    #[test]
    fn ordinary_text_is_untouched() {
        assert!(matches!(line("Größe::函数<int>"), Cow::Borrowed(_)));
        assert_eq!(lines("int f()\n{\n\treturn;\n}\n"), "int f()\n{\n\treturn;\n}\n");
        assert_eq!(lines("a\rb"), "a\\u{d}b");
    }
}
