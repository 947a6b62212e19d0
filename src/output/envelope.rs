//! The success envelope and its one serialized form: compact JSON and exactly one LF.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::documents::SCHEMA_VERSION;
use crate::domain::warning::WarningDocument;

/// A success document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Envelope<P, D> {
    /// Version of the contract.
    #[schemars(extend("const" = SCHEMA_VERSION))]
    pub schema_version: u32,
    /// Kind of document.
    pub kind: String,
    /// Where the answer comes from.
    pub provenance: P,
    /// The answer.
    pub data: D,
    /// Non-fatal facts about the answer.
    pub warnings: Vec<WarningDocument>,
}

impl<P, D> Envelope<P, D> {
    /// An envelope of the current schema version.
    pub fn new(kind: &str, provenance: P, data: D, warnings: Vec<WarningDocument>) -> Self {
        Self { schema_version: SCHEMA_VERSION, kind: kind.to_owned(), provenance, data, warnings }
    }

    /// The same envelope with another provenance.
    pub fn with_provenance(self, provenance: P) -> Self {
        Self { provenance, ..self }
    }

    /// The same envelope around other data.
    pub fn with_data<E>(&self, data: E) -> Envelope<P, E>
    where
        P: Clone,
    {
        Envelope {
            schema_version: self.schema_version,
            kind: self.kind.clone(),
            provenance: self.provenance.clone(),
            data,
            warnings: self.warnings.clone(),
        }
    }
}

/// Serializes a document as stdout, stderr and Artifacts carry it.
pub fn encode<T: Serialize>(document: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec(document)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes the same bytes to `out`, of which a large document needs no copy in memory.
pub fn write<T: Serialize>(document: &T, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut out, document)?;
    out.write_all(b"\n")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_compact_and_ends_with_one_lf() {
        let envelope = Envelope::new("inspection", (), "a\nb", vec![]);
        let encoded = encode(&envelope).unwrap();
        let mut written = Vec::new();
        write(&envelope, &mut written).unwrap();
        assert_eq!(written, encoded);
        assert_eq!(
            String::from_utf8(encoded).unwrap(),
            "{\"schema_version\":1,\"kind\":\"inspection\",\"provenance\":null,\"data\":\"a\\nb\",\"warnings\":[]}\n"
        );
    }
}
