//! What every reliability sweep is made of: cases in a fixed order, random choices that follow
//! from a seed alone, and counts of what happened.
//!
//! `cargo test` runs the subset of each sweep and compares its counts with the committed ones.
//! `cargo xtask soak` runs the long form; [`SOAK`] is the one knob that tells them apart. Each
//! case has random choices of its own, so a resumed run makes the same ones.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::committed;
use super::random::Random;

/// Set for a long form only, to a JSON object: `seed`, and `state`, the file that keeps what is done.
pub const SOAK: &str = "GHIDR_SOAK";
/// Seed of every subset.
const SUBSET_SEED: u64 = 1;

/// One sweep.
pub struct Sweep {
    /// Names its records.
    pub name: &'static str,
    /// What it shows, in one sentence.
    pub about: &'static str,
    /// Runs its cases.
    pub cases: fn(&mut Ledger),
}

/// What happened, and how often.
pub type Counts = BTreeMap<String, u64>;

/// Which cases are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A representative part, with every build.
    Subset,
    /// All of them.
    Long,
}

/// The account of one sweep.
pub struct Ledger {
    form: Form,
    name: &'static str,
    state_path: Option<PathBuf>,
    state: State,
    began: Instant,
    seconds_before: f64,
}

/// What a long form keeps after each case, and leaves as its result.
#[derive(Debug, Serialize, Deserialize)]
struct State {
    sweep: String,
    about: String,
    seed: u64,
    seconds: f64,
    finished: bool,
    cases: BTreeMap<String, Counts>,
}

#[derive(Deserialize)]
struct Soak {
    seed: u64,
    state: PathBuf,
}

impl Sweep {
    /// Runs the subset, or the long form when [`SOAK`] asks for it.
    pub fn run(&self) {
        let soak = std::env::var(SOAK).ok();
        let soak: Option<Soak> =
            soak.map(|text| serde_json::from_str(&text).unwrap_or_else(|error| panic!("{SOAK}: {error}")));
        let mut ledger = Ledger::begin(self, soak);
        (self.cases)(&mut ledger);
        ledger.finish();
    }
}

impl Ledger {
    fn begin(sweep: &Sweep, soak: Option<Soak>) -> Self {
        let (form, seed, state_path) = match soak {
            None => (Form::Subset, SUBSET_SEED, None),
            Some(soak) => (Form::Long, soak.seed, Some(soak.state)),
        };
        let kept = state_path.as_ref().and_then(|path| std::fs::read(path).ok());
        let mut state = kept.map_or_else(
            || State {
                sweep: sweep.name.to_owned(),
                about: sweep.about.to_owned(),
                seed,
                seconds: 0.0,
                finished: false,
                cases: BTreeMap::new(),
            },
            |bytes| serde_json::from_slice(&bytes).expect("the state of an earlier run"),
        );
        assert_eq!((state.sweep.as_str(), state.seed), (sweep.name, seed), "the state of another run");
        state.finished = false;
        let seconds_before = state.seconds;
        Self { form, name: sweep.name, state_path, state, began: Instant::now(), seconds_before }
    }

    /// A number of cases, as the form has it.
    pub fn many(&self, subset: usize, long: usize) -> usize {
        match self.form {
            Form::Subset => subset,
            Form::Long => long,
        }
    }

    /// Whether all cases are run. What depends on the machine, such as how many system calls a command
    /// makes, may be counted only then.
    pub fn is_long(&self) -> bool {
        self.form == Form::Long
    }

    /// Random choices that belong to `name` alone.
    pub fn random(&self, name: &str) -> Random {
        Random::new(self.state.seed, &format!("{}/{name}", self.name))
    }

    /// Runs one case, unless an earlier run of this long form did; `case` counts what happened.
    pub fn case(&mut self, id: impl Into<String>, case: impl FnOnce(&mut Random, &mut Counts)) {
        let id = id.into();
        if self.state.cases.contains_key(&id) {
            return;
        }
        let mut counts = Counts::from([("cases".to_owned(), 1)]);
        case(&mut self.random(&id), &mut counts);
        self.state.cases.insert(id, counts);
        self.save();
    }

    fn save(&mut self) {
        let Some(path) = &self.state_path else { return };
        self.state.seconds = self.seconds_before + self.began.elapsed().as_secs_f64();
        let pending = path.with_extension("tmp");
        std::fs::write(&pending, serde_json::to_vec(&self.state).unwrap()).unwrap();
        std::fs::rename(pending, path).unwrap();
    }

    fn finish(mut self) {
        self.state.finished = true;
        self.save();
        if self.form == Form::Long {
            return;
        }
        let record = serde_json::json!({"sweep": self.name, "seed": SUBSET_SEED, "counts": self.totals()});
        let text = serde_json::to_string_pretty(&record).unwrap() + "\n";
        let path = format!("docs/reliability/{}.subset.json", self.name);
        committed::check(&path, text.as_bytes(), &format!("{}::sweep", self.name));
    }

    /// What all cases so far counted, together.
    pub fn totals(&self) -> Counts {
        let mut totals = Counts::new();
        for (name, count) in self.state.cases.values().flatten() {
            *totals.entry(name.clone()).or_default() += count;
        }
        totals
    }
}

/// Counts one more of `name`.
pub fn count(counts: &mut Counts, name: impl Into<String>) {
    *counts.entry(name.into()).or_default() += 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWEEP: Sweep = Sweep { name: "example", about: "Nothing.", cases: |_| {} };

    fn soak(state: &std::path::Path) -> Ledger {
        Ledger::begin(&SWEEP, Some(Soak { seed: 7, state: state.to_owned() }))
    }

    #[test]
    fn a_resumed_long_form_repeats_no_case_and_makes_the_same_choices() {
        let directory = tempfile::tempdir().unwrap();
        let state = directory.path().join("state.json");
        let mut first = soak(&state);
        let mut drawn = Vec::new();
        for id in ["a", "b"] {
            first.case(id, |random, counts| {
                drawn.push(random.below(1 << 40));
                count(counts, "seen");
            });
        }
        drop(first);
        let mut second = soak(&state);
        second.case("b", |_, _| panic!("done before"));
        second.case("c", |_, counts| count(counts, "seen"));
        assert_eq!(second.random("a").below(1 << 40), drawn[0]);
        assert_ne!(drawn[0], drawn[1]);
        let expected = [("cases".to_owned(), 3), ("seen".to_owned(), 3)];
        assert_eq!(second.totals(), Counts::from(expected));
        second.finish();
        let kept: State = serde_json::from_slice(&std::fs::read(state).unwrap()).unwrap();
        assert!(kept.finished);
    }
}
