//! The metrics that a list asks for, each with its events.

use super::references::Resolver;
use super::{Draft, PlanOptions};
use crate::definition::EventGrouping;
use crate::{MetricCatalogue, MetricDefinition, MetricEnvironment, MetricError};

/// The metrics of a list, in the order in which they were asked for.
pub(super) fn drafts<'a>(
    list: &str,
    catalogue: &'a MetricCatalogue,
    environment: &dyn MetricEnvironment,
    options: &PlanOptions,
) -> Result<Vec<Draft<'a>>, MetricError> {
    let mut drafts = Vec::new();
    for part in list.split(',') {
        let (wanted, modifier) = part
            .split_once(':')
            .map_or((part, None), |(wanted, modifier)| (wanted, Some(modifier)));
        let before = drafts.len();
        let metrics: Vec<&MetricDefinition> = catalogue
            .iter()
            .filter(|metric| metric.is_in(wanted))
            .collect();
        for definition in metrics {
            let resolved =
                Resolver::new(catalogue, environment).resolve(definition, options.no_threshold)?;
            drafts.push(Draft {
                definition,
                modifier: modifier.map(str::to_owned),
                grouped: is_grouped(definition, wanted, options),
                expression: resolved.expression,
                threshold: resolved.threshold,
                references: resolved.references,
                ids: resolved.ids,
            });
        }
        if drafts.len() == before {
            return Err(MetricError::NotFound(wanted.to_owned()));
        }
    }
    Ok(drafts)
}

fn is_grouped(definition: &MetricDefinition, wanted: &str, options: &PlanOptions) -> bool {
    let allowed = match definition.grouping {
        EventGrouping::Group => true,
        EventGrouping::Never => false,
        EventGrouping::NotBesideWatchdog => !options.watchdog,
        EventGrouping::NotWithSmt => !options.smt_on,
        EventGrouping::NotWithThresholdBesideWatchdog => options.no_threshold || !options.watchdog,
    };
    allowed && !options.no_group && !definition.is_ungrouped_in(wanted)
}
