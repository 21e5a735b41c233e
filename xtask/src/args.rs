//! The words of the command line, taken one by one.

use anyhow::{Context, Result, bail};

/// Words not yet taken.
pub(crate) struct Args(Vec<String>);

impl Args {
    /// The words behind the program's name.
    pub(crate) fn from_env() -> Args {
        Args(std::env::args().skip(1).collect())
    }

    /// Returns true if `--name` is there.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let at = self.0.iter().position(|word| word == name);
        at.map(|at| self.0.remove(at)).is_some()
    }

    /// The value of `--name VALUE` or `--name=VALUE`.
    pub(crate) fn value(&mut self, name: &str) -> Result<Option<String>> {
        let Some(at) = self
            .0
            .iter()
            .position(|word| word.split('=').next() == Some(name))
        else {
            return Ok(None);
        };
        let word = self.0.remove(at);
        if let Some((_, value)) = word.split_once('=') {
            return Ok(Some(value.to_owned()));
        }
        if at == self.0.len() {
            bail!("{name} needs a value");
        }
        Ok(Some(self.0.remove(at)))
    }

    /// The number of `--name N`.
    pub(crate) fn number(&mut self, name: &str) -> Result<Option<usize>> {
        let value = self.value(name)?;
        value
            .map(|text| text.parse().with_context(|| format!("{name} {text}")))
            .transpose()
    }

    /// The next word that is no option.
    pub(crate) fn positional(&mut self) -> Option<String> {
        let at = self.0.iter().position(|word| !word.starts_with('-'))?;
        Some(self.0.remove(at))
    }

    /// Everything that is left, as it stands.
    pub(crate) fn rest(self) -> Vec<String> {
        self.0
    }

    /// Fails when a word was not understood.
    pub(crate) fn finish(self) -> Result<()> {
        match self.0.first() {
            Some(word) => bail!("{word} has no meaning here"),
            None => Ok(()),
        }
    }
}
