//! The two registries of decision D1: public commands and worker operations, and how they
//! relate. The conformance test compares them with the adapter's dispatch table, the
//! published schemas and the goldens.

use super::request::Operation;

/// One worker operation.
#[derive(Debug, Clone, Copy)]
pub struct OperationEntry {
    /// The operation.
    pub operation: Operation,
    /// Its name in requests and in the adapter's dispatch table.
    pub id: &'static str,
    /// One sentence for future capability discovery.
    pub description: &'static str,
}

/// One public command.
#[derive(Debug, Clone, Copy)]
pub struct CommandEntry {
    /// Name on the command line, a subcommand's after its parent's.
    pub name: &'static str,
    /// Kind of its success document.
    pub kind: &'static str,
    /// File name of its schema below `schemas/v1/`.
    pub schema: &'static str,
    /// Stable category.
    pub category: Category,
    /// Worker operations it may run; none for a command that starts no worker.
    pub operations: &'static [Operation],
    /// One sentence for future capability discovery.
    pub description: &'static str,
}

/// Stable grouping of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    /// About the installation.
    Installation,
    /// About a whole Program.
    Program,
    /// About Functions.
    Functions,
    /// Several questions at once.
    Several,
    /// About what is stored.
    Storage,
}

/// Every worker operation.
pub const OPERATIONS: &[OperationEntry] = &[
    OperationEntry {
        operation: Operation::Probe,
        id: "probe",
        description: "Proves that Java, Ghidra and its native decompiler work where the worker runs.",
    },
    OperationEntry {
        operation: Operation::Analyze,
        id: "analyze",
        description: "Imports and analyzes one staged Sample and writes its facts.",
    },
    OperationEntry {
        operation: Operation::Query,
        id: "query",
        description: "Answers one Query on a private copy of a finished project.",
    },
];

/// Every public command that emits a document.
pub const COMMANDS: &[CommandEntry] = &[
    CommandEntry {
        name: "doctor",
        kind: "doctor_report",
        schema: "doctor_report.json",
        category: Category::Installation,
        operations: &[Operation::Probe],
        description: "Reports whether Ghidra, Java, the Analysis Store and the sandbox are usable.",
    },
    CommandEntry {
        name: "inspect",
        kind: "inspection",
        schema: "inspection.json",
        category: Category::Program,
        operations: &[Operation::Analyze],
        description: "Describes a Sample's Program and the Analysis behind it.",
    },
    CommandEntry {
        name: "functions",
        kind: "function_list",
        schema: "function_list.json",
        category: Category::Functions,
        operations: &[Operation::Analyze],
        description: "Lists a Sample's Functions in a stable order, a bounded page at a time.",
    },
    CommandEntry {
        name: "decompile",
        kind: "decompilation",
        schema: "decompilation.json",
        category: Category::Functions,
        operations: &[Operation::Analyze, Operation::Query],
        description: "Decompiles the one Function that an explicit selector names.",
    },
    CommandEntry {
        name: "batch",
        kind: "batch_report",
        schema: "batch_report.json",
        category: Category::Several,
        operations: &[Operation::Analyze, Operation::Query],
        description: "Answers many Queries about one Sample with one start of Ghidra, or decompiles all of its Functions.",
    },
    CommandEntry {
        name: "clean",
        kind: "cleanup",
        schema: "cleanup.json",
        category: Category::Storage,
        operations: &[],
        description: "Removes everything stored about one Sample, or everything in the Analysis Store.",
    },
    CommandEntry {
        name: "store list",
        kind: "store_list",
        schema: "store_list.json",
        category: Category::Storage,
        operations: &[],
        description: "Lists what the Analysis Store keeps of each Sample, a bounded page at a time.",
    },
];

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn is_one_sentence(text: &str) -> bool {
        text.ends_with('.')
            && text.matches(". ").count() == 0
            && text.chars().next().is_some_and(char::is_uppercase)
    }

    #[test]
    fn every_operation_is_registered_once_under_its_serialized_name() {
        let mut seen = BTreeSet::new();
        for entry in OPERATIONS {
            assert_eq!(serde_json::to_value(entry.operation).unwrap(), entry.id);
            assert!(seen.insert(entry.operation), "{} twice", entry.id);
            assert!(is_one_sentence(entry.description), "{}", entry.id);
        }
        for operation in [Operation::Probe, Operation::Analyze, Operation::Query] {
            assert!(seen.contains(&operation));
        }
    }

    #[test]
    fn commands_have_unique_names_kinds_and_schemas_and_one_sentence_each() {
        let names: BTreeSet<_> = COMMANDS.iter().map(|entry| entry.name).collect();
        let kinds: BTreeSet<_> = COMMANDS.iter().map(|entry| entry.kind).collect();
        assert_eq!((names.len(), kinds.len()), (COMMANDS.len(), COMMANDS.len()));
        for entry in COMMANDS {
            assert_eq!(entry.schema, format!("{}.json", entry.kind));
            assert!(is_one_sentence(entry.description), "{}", entry.name);
            assert_eq!(entry.operations.is_empty(), entry.category == Category::Storage, "{}", entry.name);
        }
    }
}
