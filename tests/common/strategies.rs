//! How proptest runs.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::FileFailurePersistence;

/// The configuration of properties that run so many cases. A case that fails is written beside the source file, so that each
/// program has its own.
pub fn cases(cases: u32) -> ProptestConfig {
    let beside_source = FileFailurePersistence::WithSource("regressions");
    ProptestConfig { cases, failure_persistence: Some(Box::new(beside_source)), ..ProptestConfig::default() }
}
