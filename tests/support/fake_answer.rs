//! What the scripted worker leaves behind: facts, project, response, output, and its end.

use std::path::{Path, PathBuf};

use ghidr::process::{EndedBy, Termination};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// An edit of the finished response.
pub type Claim = Box<dyn FnOnce(&mut Value)>;

/// Writes down the finished response.
pub type Spelling = Box<dyn Fn(&Value) -> Vec<u8>>;

/// Everything one run of the worker leaves behind. The response's claims about facts are made
/// last, so that they are true of edited facts; `claims` edits them afterwards.
pub struct Answer {
    /// The request.
    pub request: Value,
    /// `outcome` of the response; `None` leaves no response.
    pub outcome: Option<Value>,
    /// Outcome of each Query, in order; the response's claims about them are true of the edited ones.
    pub answers: Vec<Value>,
    /// Why there are fewer of them than Queries.
    pub stopped: Value,
    /// How a line of answers is written down.
    pub spell_answer: Spelling,
    /// Exact bytes in place of the answers.
    pub raw_answers: Option<Vec<u8>>,
    /// Whether it comes to its Queries at all; if not, it leaves no file of answers.
    pub comes_to_queries: bool,
    /// Edits of the finished response.
    pub claims: Vec<Claim>,
    /// How the response is written down.
    pub spell: Spelling,
    /// Exact bytes in place of the response.
    pub raw_response: Option<Vec<u8>>,
    /// What happens once everything else was left behind.
    pub after: Option<Box<dyn FnOnce()>>,
    /// `facts/program.json`.
    pub program: Value,
    /// `facts/functions.jsonl`, as lines.
    pub functions: Vec<String>,
    /// Files of the project.
    pub project: Vec<(&'static str, &'static str)>,
    /// What the worker last reported.
    pub progress: Option<&'static str>,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// What was written to standard output in all, when that is more than was kept.
    pub stdout_observed_bytes: Option<u64>,
    /// Its status.
    pub status: Option<i32>,
    /// Why it ended.
    pub ended_by: EndedBy,
    /// How it was ended.
    pub termination: Option<Termination>,
}

/// One line of `functions.jsonl`, in the exact spelling of the protocol.
pub fn function(name: &str, qualified: &str, space: &str, offset: u64) -> String {
    let external = space == "EXTERNAL";
    let (location, digits) = if external { ("external", 8) } else { ("memory", 16) };
    let text = |text: &str| Value::from(text).to_string();
    format!(
        "{{\"name\":{},\"qualified_name\":{},\"entry\":{{\"space\":{},\"offset\":\"0x{offset:0digits$x}\"}},\
         \"body_address_count\":16,\"location\":\"{location}\",\"is_external\":{external},\"is_thunk\":false,\
         \"thunk_target_entry\":null,\"decompilable\":{}}}",
        text(name),
        text(qualified),
        text(space),
        !external
    )
}

/// A thunk in memory that resolves to an external Function.
pub fn thunk(name: &str, qualified: &str, offset: u64, target: u64) -> String {
    function(name, qualified, "ram", offset).replace(
        "\"is_thunk\":false,\"thunk_target_entry\":null",
        &format!("\"is_thunk\":true,\"thunk_target_entry\":{{\"space\":\"EXTERNAL\",\"offset\":\"0x{target:08x}\"}}"),
    )
}

/// The program that the honest worker knows: two functions of one name, a thunk and its target.
pub fn program() -> Vec<String> {
    vec![
        function("_init", "_init", "ram", 0x1000),
        thunk("getenv", "<EXTERNAL>::getenv", 0x1020, 1),
        function("parse", "A::parse", "ram", 0x1040),
        function("parse", "B::parse", "ram", 0x1060),
        function("main", "main", "ram", 0x1080),
        function("getenv", "<EXTERNAL>::getenv", "EXTERNAL", 1),
    ]
}

impl Answer {
    /// What an honest worker does with this request.
    pub fn honest(request: &Value, functions: Vec<String>) -> Self {
        let queries = request["arguments"]["queries"]["items"].as_array().cloned().unwrap_or_default();
        let decompiled = |query: &Value| json!({"status": "decompiled", "decompilation": decompilation_of(&query["selector"], &functions)});
        let answers = queries.iter().map(decompiled).collect();
        let outcome = match request["operation"].as_str().unwrap() {
            "probe" => json!({"status": "probed", "probe": {
                "ghidra_version": "10.3", "ghidra_build": "build", "java_version": "17",
                "java_compiler": true, "native_decompiler": true, "fonts": true
            }}),
            "analyze" => json!({"status": "analyzed", "analysis": analysis(), "answers": null}),
            _ => json!({"status": "queried", "answers": null}),
        };
        Self {
            request: request.clone(),
            outcome: Some(outcome),
            answers,
            stopped: Value::Null,
            spell_answer: Box::new(|answer| answer.to_string().into_bytes()),
            raw_answers: None,
            comes_to_queries: true,
            claims: Vec::new(),
            spell: Box::new(|response| response.to_string().into_bytes()),
            raw_response: None,
            after: None,
            program: program_facts(),
            functions,
            project: vec![("analysis.gpr", "gpr"), ("analysis.rep/idata/00/data", "data")],
            progress: None,
            stdout: Vec::new(),
            stderr: Vec::new(),
            stdout_observed_bytes: None,
            status: Some(0),
            ended_by: EndedBy::Finished,
            termination: None,
        }
    }

    /// The worker fails with this error; an analyzing one promotes nothing.
    pub fn fail(&mut self, code: &str, details: Value) {
        self.outcome = Some(json!({"status": "failed", "error": {"code": code, "details": details}}));
    }

    /// Only the first Query fails.
    pub fn fail_query(&mut self, code: &str, details: Value) {
        self.answers[0] = json!({"status": "failed", "error": {"code": code, "details": details}});
    }

    /// The part of the outcome at this JSON pointer; below `/query` of the outcome of the first Query.
    pub fn outcome_at(&mut self, pointer: &str) -> &mut Value {
        let (whole, inside) = match pointer.strip_prefix("/query") {
            Some(inside) => (&mut self.answers[0], inside),
            None => (self.outcome.as_mut().unwrap(), pointer),
        };
        whole.pointer_mut(inside).unwrap_or_else(|| panic!("no {pointer}"))
    }

    /// Edits the finished response.
    pub fn claim(&mut self, edit: impl FnOnce(&mut Value) + 'static) {
        self.claims.push(Box::new(edit));
    }

    /// Writes everything where the request says.
    pub fn leave_behind(&mut self, response_path: &Path) {
        let arguments = &self.request["arguments"];
        let directory = |name: &str| arguments[name].as_str().map(PathBuf::from);
        if let Some(progress) = self.progress {
            std::fs::write(self.request["progress_path"].as_str().unwrap(), progress).unwrap();
        }
        let mut facts = json!(null);
        if let Some(facts_directory) = directory("facts_directory") {
            facts = self.write_facts(&facts_directory);
            let project = directory("project_directory").unwrap();
            for (name, text) in &self.project {
                let path = project.join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
        }
        let answers = self.write_answers();
        let Some(mut outcome) = self.outcome.take() else { return };
        if outcome.get("answers").is_some_and(Value::is_null) {
            outcome["answers"] = answers;
        }
        if outcome["status"] == "analyzed" {
            outcome["analysis"]["facts"] = facts;
            outcome["analysis"]["program"]["function_count"] = self.functions.len().into();
            let memory =
                self.functions.iter().filter(|line| line.contains("\"location\":\"memory\"")).count();
            outcome["analysis"]["program"]["memory_function_count"] = memory.into();
        }
        let mut response = json!({
            "protocol_version": 1, "invocation_id": self.request["invocation_id"],
            "operation": self.request["operation"], "phases": [{"name": "application", "milliseconds": 1}],
            "outcome": outcome
        });
        self.claims.drain(..).for_each(|edit| edit(&mut response));
        let bytes = self.raw_response.take().unwrap_or_else(|| (self.spell)(&response));
        std::fs::write(response_path, bytes).unwrap();
        if let Some(after) = self.after.take() {
            after();
        }
    }

    /// Writes the answers, if there were Queries, and claims what is true of them.
    fn write_answers(&mut self) -> Value {
        let Some(path) = self.request["arguments"]["queries"]["answers_path"].as_str() else {
            return Value::Null;
        };
        if !self.comes_to_queries {
            return Value::Null;
        }
        let mut bytes = Vec::new();
        for (index, outcome) in self.answers.iter().enumerate() {
            bytes.extend((self.spell_answer)(&json!({"index": index, "outcome": outcome})));
            bytes.push(b'\n');
        }
        let bytes = self.raw_answers.take().unwrap_or(bytes);
        std::fs::write(path, &bytes).unwrap();
        let failed = self.answers.iter().filter(|outcome| outcome["status"] == "failed").count();
        json!({
            "bytes": bytes.len(), "sha256": hex::encode(Sha256::digest(&bytes)),
            "count": self.answers.len(), "failed": failed, "stopped": self.stopped
        })
    }

    fn write_facts(&self, directory: &Path) -> Value {
        let mut program = self.program.clone();
        if program["function_count"].is_null() {
            program["function_count"] = self.functions.len().into();
        }
        let program = spell_program(&program);
        let functions: String = self.functions.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(directory.join("program.json"), &program).unwrap();
        std::fs::write(directory.join("functions.jsonl"), &functions).unwrap();
        let claim = |text: &str| json!({"bytes": text.len(), "sha256": hex::encode(Sha256::digest(text))});
        let mut of_functions = claim(&functions);
        of_functions["count"] = self.functions.len().into();
        json!({"program": claim(&program), "functions": of_functions})
    }
}

/// What a worker says of the first of its functions that the selector names.
fn decompilation_of(selector: &Value, functions: &[String]) -> Value {
    let known = functions.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let named = |item: &Value| match selector["kind"].as_str().unwrap_or_default() {
        "name" => [&item["name"], &item["qualified_name"]].contains(&&selector["value"]),
        _ => item["entry"]["space"] == selector["space"] && item["entry"]["offset"] == selector["offset"],
    };
    // A test that asks about anything else says itself what the worker answers.
    let Some(item) = known.into_iter().find(named) else { return decompilation("main", 0x1080) };
    json!({
        "function": {"name": item["name"], "qualified_name": item["qualified_name"], "entry": item["entry"]},
        "text": text_of(item["name"].as_str().unwrap()),
        "warnings": [],
        "faults": {"total": 0, "items": []}
    })
}

fn text_of(name: &str) -> String {
    format!("\nvoid {name}(void)\n\n{{\n  return;\n}}\n\n")
}

/// What a worker says of a decompiled Function.
pub fn decompilation(name: &str, offset: u64) -> Value {
    json!({
        "function": {"name": name, "qualified_name": name, "entry": {"space": "ram", "offset": format!("0x{offset:016x}")}},
        "text": text_of(name),
        "warnings": [],
        "faults": {"total": 0, "items": []}
    })
}

fn analysis() -> Value {
    let analyzers: Vec<Value> = (0..20)
        .map(|index| json!({"name": format!("Analyzer {index:02}"), "enabled": true, "status": "completed", "milliseconds": 1}))
        .collect();
    json!({
        "target": {
            "loader": "Executable and Linking Format (ELF)", "format": "Executable and Linking Format (ELF)",
            "processor_language": "x86:LE:64:default", "compiler_specification": "gcc"
        },
        "loader_options": [],
        "analyzer_options": [{"name": "A", "type": "boolean", "value": true}],
        "analyzers": analyzers,
        "faults": {"total": 0, "items": []},
        "suspicions": [],
        "program": {
            "function_count": 0, "memory_function_count": 0, "reference_count": 1, "defined_data_count": 1,
            "instruction_count": 1, "symbol_count": 1
        },
        "facts": null
    })
}

/// `function_count` is filled in when the facts are written.
fn program_facts() -> Value {
    json!({
        "facts_version": 1,
        "image_base": {"space": "ram", "offset": "0x0000000000000000"},
        "minimum_address": {"space": "ram", "offset": "0x0000000000001000"},
        "maximum_address": {"space": "ram", "offset": "0x0000000000001fff"},
        "function_count": null,
        "address_spaces": [{"name": "EXTERNAL", "offset_digits": 8}, {"name": "ram", "offset_digits": 16}]
    })
}

/// The facts in the field order of the protocol.
fn spell_program(facts: &Value) -> String {
    let address = |name: &str| match &facts[name] {
        Value::Null => "null".to_owned(),
        address => format!("{{\"space\":{},\"offset\":{}}}", address["space"], address["offset"]),
    };
    let spaces: Vec<String> = facts["address_spaces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|space| format!("{{\"name\":{},\"offset_digits\":{}}}", space["name"], space["offset_digits"]))
        .collect();
    format!(
        "{{\"facts_version\":{},\"image_base\":{},\"minimum_address\":{},\"maximum_address\":{},\"function_count\":{},\"address_spaces\":[{}]}}\n",
        facts["facts_version"],
        address("image_base"),
        address("minimum_address"),
        address("maximum_address"),
        facts["function_count"],
        spaces.join(",")
    )
}
