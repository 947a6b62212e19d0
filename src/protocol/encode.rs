//! Encodes a request, refusing one above the fixed ceiling before anything is launched.

use super::limits::MAX_REQUEST_BYTES;
use super::request::Request;

/// Why a request cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// The serialized request exceeds the ceiling.
    #[error("the request needs {bytes} bytes, more than the {MAX_REQUEST_BYTES} allowed")]
    TooLarge {
        /// Its serialized size.
        bytes: usize,
    },
    /// The request has no JSON form.
    #[error("the request cannot be serialized: {0}")]
    Unserializable(#[from] serde_json::Error),
}

/// The bytes of `request.json`.
pub fn encode(request: &Request) -> Result<Vec<u8>, EncodeError> {
    let bytes = serde_json::to_vec(request)?;
    // INVARIANT(request-ceiling): no worker is launched for a request above 1 MiB.
    if bytes.len() > MAX_REQUEST_BYTES {
        return Err(EncodeError::TooLarge { bytes: bytes.len() });
    }
    Ok(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod tests {
    use super::*;
    use crate::domain::engine_layout::EngineLayout;
    use crate::domain::invocation_id::InvocationId;
    use crate::domain::selector::FunctionSelector;
    use crate::protocol::request::{Arguments, Boot, Queries, WorkerEngine, WorkerLimits, WorkerQuery};

    pub(crate) fn request_with_name(name: String) -> Request {
        Request {
            protocol_version: 1,
            invocation_id: InvocationId::from_bytes([7; 16]),
            arguments: Arguments::Query {
                project_directory: "/p".into(),
                queries: Queries {
                    items: vec![WorkerQuery::Decompile { selector: FunctionSelector::Name { value: name } }],
                    answers_path: "/i/answers.jsonl".into(),
                    stop_at_failure: false,
                    timeout_seconds: None,
                    max_answers_bytes: 1,
                },
            },
            boot: Boot { libjvm: "/j".into(), class_path: vec![], jvm_options: vec![], main_stack_mib: 1 },
            engine: WorkerEngine { layout: EngineLayout::SingleJar, path: "/e".into() },
            grants: vec![],
            progress_path: "/i/progress".into(),
            limits: WorkerLimits {
                analysis_timeout_seconds: 1,
                decompile_timeout_seconds: None,
                max_cpu: 1,
                max_response_bytes: 1,
                max_facts_bytes: 1,
            },
        }
    }

    #[test]
    fn request_ceiling_is_exact() {
        let overhead = encode(&request_with_name(String::new())).unwrap().len();
        let at_limit = request_with_name("a".repeat(MAX_REQUEST_BYTES - overhead));
        assert_eq!(encode(&at_limit).unwrap().len(), MAX_REQUEST_BYTES);
        let above = request_with_name("a".repeat(MAX_REQUEST_BYTES - overhead + 1));
        assert!(
            matches!(encode(&above), Err(EncodeError::TooLarge { bytes }) if bytes == MAX_REQUEST_BYTES + 1)
        );
    }

    #[test]
    fn operation_and_arguments_stand_beside_the_other_fields() {
        let value = serde_json::to_value(request_with_name("main".into())).unwrap();
        assert_eq!(value["operation"], "query");
        let query = &value["arguments"]["queries"]["items"][0];
        assert_eq!(query["kind"], "decompile");
        assert_eq!(query["selector"]["value"], "main");
    }
}
