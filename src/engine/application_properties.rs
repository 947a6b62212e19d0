//! Ghidra's `application.properties`: version, build and the Java versions it accepts.
//!
//! Reads bounded text only; a value that is missing where the product needs one is an error.

use std::collections::BTreeMap;

/// A required property is missing or malformed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("application.properties has no usable {0}")]
pub struct MissingProperty(pub &'static str);

/// What the engine says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationProperties {
    /// `application.version`, such as `12.1.2`.
    pub version: String,
    /// `application.revision.ghidra`, else `application.build.date`.
    pub build: String,
    /// `application.release.name`, such as `PUBLIC`.
    pub release_name: String,
    /// Java feature versions it accepts.
    pub java: JavaRange,
}

/// An inclusive range of Java feature versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JavaRange {
    /// Smallest accepted.
    pub minimum: u32,
    /// Largest accepted; `None` means unbounded.
    pub maximum: Option<u32>,
}

impl JavaRange {
    /// Whether `feature` is accepted.
    pub fn accepts(self, feature: u32) -> bool {
        feature >= self.minimum && self.maximum.is_none_or(|maximum| feature <= maximum)
    }
}

impl std::fmt::Display for JavaRange {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.maximum {
            Some(maximum) => write!(formatter, "Java {} to {maximum}", self.minimum),
            None => write!(formatter, "Java {} or later", self.minimum),
        }
    }
}

impl ApplicationProperties {
    /// Parses the text of `application.properties`.
    pub fn parse(text: &str) -> Result<Self, MissingProperty> {
        let values: BTreeMap<&str, &str> = text
            .lines()
            .filter(|line| !line.trim_start().starts_with(['#', '!']))
            .filter_map(|line| line.split_once('='))
            .map(|(key, value)| (key.trim(), value.trim()))
            .collect();
        let text_of = |key: &'static str| values.get(key).copied().filter(|value| !value.is_empty());
        if text_of("application.name") != Some("Ghidra") {
            return Err(MissingProperty("application.name=Ghidra"));
        }
        let required = |key| text_of(key).map(str::to_owned).ok_or(MissingProperty(key));
        let minimum =
            required("application.java.min")?.parse().map_err(|_| MissingProperty("application.java.min"))?;
        let maximum = match text_of("application.java.max") {
            None => None,
            Some(value) => Some(value.parse().map_err(|_| MissingProperty("application.java.max"))?),
        };
        Ok(Self {
            version: required("application.version")?,
            build: required("application.revision.ghidra").or_else(|_| required("application.build.date"))?,
            release_name: required("application.release.name")?,
            java: JavaRange { minimum, maximum },
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const TEXT: &str = "# comment\napplication.name=Ghidra\napplication.version=10.3\n\
        application.release.name=PUBLIC\napplication.java.min=17\napplication.java.max=\n\
        application.build.date=2023-May-10 1508 EDT\napplication.revision.ghidra=104d\n";

    #[test]
    fn reads_version_build_and_an_open_java_range() {
        let properties = ApplicationProperties::parse(TEXT).unwrap();
        assert_eq!((properties.version.as_str(), properties.build.as_str()), ("10.3", "104d"));
        assert!(properties.java.accepts(17) && properties.java.accepts(99) && !properties.java.accepts(16));
    }

    #[test]
    fn falls_back_to_the_build_date_and_honours_a_maximum() {
        let text = TEXT.replace("revision.ghidra", "other").replace("java.max=", "java.max=21");
        let properties = ApplicationProperties::parse(&text).unwrap();
        assert_eq!(properties.build, "2023-May-10 1508 EDT");
        assert!(properties.java.accepts(21) && !properties.java.accepts(22));
    }

    #[test]
    fn names_the_property_that_is_missing() {
        let text = TEXT.replace("application.version=10.3", "application.version=");
        assert_eq!(ApplicationProperties::parse(&text), Err(MissingProperty("application.version")));
        let text = TEXT.replace("name=Ghidra", "name=Other");
        assert_eq!(ApplicationProperties::parse(&text), Err(MissingProperty("application.name=Ghidra")));
        let text = TEXT.replace("java.min=17", "java.min=many");
        assert_eq!(ApplicationProperties::parse(&text), Err(MissingProperty("application.java.min")));
    }
}
