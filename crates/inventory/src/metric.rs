//! A metric as lists show it.

/// A metric in one of its groups. Texts come from files and are not trusted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedMetric {
    /// The group; one that names none is its own.
    pub group: String,
    /// The name.
    pub name: String,
    /// The expression.
    pub expression: String,
    /// An expression that is true where the value asks for attention.
    pub threshold: Option<String>,
    /// Factor and unit of its value: `100%`.
    pub scale_unit: Option<String>,
    /// A description of a line or two.
    pub brief: Option<String>,
    /// A long description.
    pub long: Option<String>,
    /// The PMU that its events are on; `default_core` for that of the cores.
    pub unit: String,
}
