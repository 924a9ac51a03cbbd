//! Every form of a reduction, for every source.

mod extremes;
mod forms;
mod means;
mod messages;
mod sources;
