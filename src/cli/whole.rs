//! Whole numbers on the command line: decimal digits alone, within a range.
//!
//! No sign, no unit, no leading zero, no word for "unlimited". A range ends where what receives the
//! number would refuse it, or would silently take it for another one.

use std::ffi::OsStr;

use clap::builder::TypedValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Parses a whole number within a range, both ends included.
#[derive(Debug, Clone, Copy)]
pub struct Whole {
    least: u64,
    most: u64,
}

impl Whole {
    /// Every number but zero.
    pub const POSITIVE: Self = Self { least: 1, most: u64::MAX };
    /// Every number.
    pub const ANY: Self = Self { least: 0, most: u64::MAX };

    /// From `least` to `most`.
    pub const fn within(least: u64, most: u64) -> Self {
        Self { least, most }
    }

    fn read(self, value: &OsStr) -> Option<u64> {
        let text = value.to_str()?;
        let canonical = text == "0" || !text.starts_with('0');
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = if canonical && digits { text.parse().ok()? } else { return None };
        (self.least..=self.most).contains(&number).then_some(number)
    }
}

impl TypedValueParser for Whole {
    type Value = u64;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<u64, clap::Error> {
        self.read(value).ok_or_else(|| {
            let flag = argument.and_then(clap::Arg::get_long).map(|long| format!("--{long}"));
            let flag = flag.unwrap_or_default();
            let message = format!(
                "{flag} takes a whole number from {} to {}, without sign, unit or leading zero, not '{}'\n",
                self.least,
                self.most,
                value.to_string_lossy()
            );
            let mut error = clap::Error::raw(ErrorKind::ValueValidation, message).with_cmd(command);
            error.insert(ContextKind::InvalidArg, ContextValue::String(flag));
            error
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_digits_within_the_range_are_a_number() {
        let range = Whole::within(2, 10);
        for (text, number) in [("2", Some(2)), ("10", Some(10)), ("1", None), ("11", None), ("", None)] {
            assert_eq!(range.read(OsStr::new(text)), number, "{text}");
        }
        for text in
            ["+1", "-1", "01", "1 ", "1k", "0x1", "1.0", "unlimited", "18446744073709551616", "\u{661}"]
        {
            assert_eq!(Whole::ANY.read(OsStr::new(text)), None, "{text}");
        }
        assert_eq!(Whole::ANY.read(OsStr::new("18446744073709551615")), Some(u64::MAX));
        assert_eq!(Whole::ANY.read(OsStr::new("0")), Some(0));
        assert_eq!(Whole::POSITIVE.read(OsStr::new("0")), None);
    }
}
