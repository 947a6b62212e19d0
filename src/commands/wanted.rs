//! Which Functions a command wants: its selectors, all judged by the facts in one pass over them.
//!
//! Reads no more of the facts than the selectors need.

use super::analysis::Ready;
use super::failure::Failure;
use crate::domain::address::{Address, Offset};
use crate::domain::candidates::Candidates;
use crate::domain::error::PublicError;
use crate::domain::program::ProgramFacts;
use crate::domain::resolvers::Resolvers;
use crate::domain::selector::{FunctionSelector, Resolution};
use crate::store::StoreError;

/// A Function that a command wants decompiled.
#[derive(Debug)]
pub struct Wanted {
    /// As it was asked for.
    pub selector: FunctionSelector,
    /// What the facts say about that, or why it cannot be asked.
    pub resolution: Result<Resolution, Failure>,
}

/// What the facts say about each of `selectors`.
pub fn wanted(ready: &Ready<'_>, selectors: &[FunctionSelector]) -> Result<Vec<Wanted>, Failure> {
    let judged = judge_addresses(ready, selectors)?;
    let resolutions = if judged.iter().any(Result::is_ok) {
        resolve(ready, selectors)?
    } else {
        vec![Resolution::NotFound; selectors.len()]
    };
    let wanted = selectors.iter().zip(judged).zip(resolutions).map(|((selector, judged), resolution)| {
        Wanted { selector: selector.clone(), resolution: judged.map(|()| resolution) }
    });
    Ok(wanted.collect())
}

/// Whether each Address has its one spelling; a name always has.
fn judge_addresses(
    ready: &Ready<'_>,
    selectors: &[FunctionSelector],
) -> Result<Vec<Result<(), Failure>>, Failure> {
    if !selectors.iter().any(|selector| matches!(selector, FunctionSelector::Address { .. })) {
        return Ok(selectors.iter().map(|_| Ok(())).collect());
    }
    let facts = ready.analysis.program_facts()?;
    Ok(selectors.iter().map(|selector| require_canonical(selector, &facts)).collect())
}

fn resolve(ready: &Ready<'_>, selectors: &[FunctionSelector]) -> Result<Vec<Resolution>, Failure> {
    let mut resolvers = Resolvers::new(selectors);
    let table = ready.analysis.functions()?;
    let texts: Vec<String> = selectors
        .iter()
        .map(|selector| match selector {
            FunctionSelector::Name { value } => value.clone(),
            FunctionSelector::Address { offset, .. } => offset.to_string(),
        })
        .collect();
    table.for_each_that_may_have(&texts, &|| ready.interrupts.first(), |item| {
        resolvers.visit(&item);
        Ok::<_, StoreError>(())
    })?;
    Ok(resolvers.finish())
}

/// An offset is written with its space's width, so that one Address has one spelling.
fn require_canonical(selector: &FunctionSelector, facts: &ProgramFacts) -> Result<(), Failure> {
    let FunctionSelector::Address { space, offset } = selector else { return Ok(()) };
    let Some(known) = facts.address_spaces.iter().find(|known| known.name == *space) else {
        let spaces = Candidates::from_all(facts.address_spaces.iter().map(|known| known.name.clone()));
        return Err(PublicError::AddressSpaceNotFound { space: space.clone(), spaces }.into());
    };
    if offset.digits() == known.offset_digits {
        return Ok(());
    }
    let canonical =
        Address { space: space.clone(), offset: Offset::new(offset.value(), known.offset_digits) };
    Err(PublicError::InvalidArguments {
        argument: Some("--address".to_owned()),
        reason: format!("an offset in '{space}' has {} hexadecimal digits", known.offset_digits),
        suggestion: Some(format!("--address {canonical}")),
    }
    .into())
}
