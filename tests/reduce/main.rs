//! Every form of a reduction, for every source.

mod forms;
mod means;
mod messages;
