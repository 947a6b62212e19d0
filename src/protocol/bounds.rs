//! The bounds of everything inside a response, checked before any of it is kept.
//!
//! A document within the size limit can still become many times as large in memory, and a text of a megabyte has no place
//! in an error document or a manifest. One pass over the bytes, which builds nothing, counts the values and measures the
//! texts. The decompiled text may be as long as the response, and the names of its Function as long as they are in the facts,
//! where a Sample chooses them.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::limits::{MAX_RESPONSE_VALUES, MAX_TEXT_CHARS};
use super::violation::ProtocolViolation;

/// Members that may hold a long text, by their last names: they are compared with validated facts, or are the answer.
const LONG_TEXTS: [&[&str]; 3] = [&["text"], &["function", "name"], &["function", "qualified_name"]];

/// Refuses a response that holds too many values or too long a text.
pub(super) fn check(bytes: &[u8]) -> Result<(), ProtocolViolation> {
    let mut walk = Walk { path: Vec::new(), values: 0, broken: None };
    let mut document = serde_json::Deserializer::from_slice(bytes);
    match document.deserialize_any(&mut walk) {
        Ok(()) => Ok(()),
        Err(error) => Err(walk
            .broken
            .unwrap_or_else(|| ProtocolViolation::new("response", "a document of the protocol", error))),
    }
}

struct Walk {
    path: Vec<String>,
    values: usize,
    broken: Option<ProtocolViolation>,
}

impl Walk {
    fn refuse<E: Error>(&mut self, expected: String, received: String) -> E {
        let field = if self.path.is_empty() { "response".to_owned() } else { self.path.join(".") };
        self.broken = Some(ProtocolViolation::new(&field, &expected, received));
        E::custom(expected)
    }

    fn count<E: Error>(&mut self) -> Result<(), E> {
        self.values += 1;
        if self.values > MAX_RESPONSE_VALUES {
            return Err(self.refuse(format!("at most {MAX_RESPONSE_VALUES} values"), "more".to_owned()));
        }
        Ok(())
    }

    fn measure<E: Error>(&mut self, text: &str) -> Result<(), E> {
        // Like the adapter, in UTF-16 units; none has more of them than bytes.
        let long = text.len() > MAX_TEXT_CHARS && text.encode_utf16().count() > MAX_TEXT_CHARS;
        let may_be_long = LONG_TEXTS.iter().any(|names| {
            self.path.iter().map(String::as_str).rev().take(names.len()).eq(names.iter().rev().copied())
        });
        if long && !may_be_long {
            let received = format!("{} bytes", text.len());
            return Err(self.refuse(format!("a text of at most {MAX_TEXT_CHARS} characters"), received));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for &mut Walk {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Walk {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.count()
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.count()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.count()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.count()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.count()
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.count()?;
        self.measure(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        self.count()?;
        while elements.next_element_seed(&mut *self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        self.count()?;
        while members.next_key_seed(Name(&mut *self))?.is_some() {
            members.next_value_seed(&mut *self)?;
            self.path.pop();
        }
        Ok(())
    }
}

/// Reads a member's name onto the path.
struct Name<'walk>(&'walk mut Walk);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, name: D) -> Result<(), D::Error> {
        name.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<(), E> {
        self.0.measure(name)?;
        self.0.path.push(name.to_owned());
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    fn field(document: &serde_json::Value) -> Option<String> {
        check(document.to_string().as_bytes()).err().map(|violation| violation.field)
    }

    #[test]
    fn a_text_is_bounded_in_utf16_units_and_named_by_its_place() {
        let fits = "ü".repeat(MAX_TEXT_CHARS);
        assert_eq!(field(&json!({"outcome": {"loader": fits}})), None);
        assert_eq!(field(&json!({"outcome": {"loader": format!("{fits}x")}})).unwrap(), "outcome.loader");
        let pairs = "😀".repeat(MAX_TEXT_CHARS / 2);
        assert_eq!(field(&json!([pairs])), None);
        assert_eq!(field(&json!([format!("{pairs}x")])).unwrap(), "response");
        assert_eq!(field(&json!({"text": "x".repeat(1 << 20)})), None);
        assert_eq!(field(&json!({ "x".repeat(MAX_TEXT_CHARS + 1): 1 })).unwrap(), "response");
    }

    #[test]
    fn the_answer_itself_may_be_long_and_so_may_the_names_of_its_function() {
        let long = "x".repeat(MAX_TEXT_CHARS + 1);
        assert_eq!(field(&json!({"text": long, "function": {"name": long, "qualified_name": long}})), None);
        assert_eq!(field(&json!({"name": long})).unwrap(), "name");
        assert_eq!(field(&json!({"function": {"entry": long}})).unwrap(), "function.entry");
    }

    #[test]
    fn the_number_of_values_is_bounded_wherever_they_are() {
        let list = |length: usize| json!({"a": {"b": vec![0; length]}, "c": null});
        assert_eq!(field(&list(MAX_RESPONSE_VALUES - 4)), None);
        assert_eq!(field(&list(MAX_RESPONSE_VALUES - 3)).unwrap(), "c");
        assert_eq!(field(&list(MAX_RESPONSE_VALUES)).unwrap(), "a.b");
    }

    #[test]
    fn what_is_no_json_is_no_document_of_the_protocol() {
        for text in ["", "{", "[1,]", "{\"a\":}", "\u{1}"] {
            assert_eq!(check(text.as_bytes()).unwrap_err().field, "response");
        }
    }
}
