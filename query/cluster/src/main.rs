//! A Ballista cluster for the test of the tables: one program that is its scheduler, an executor or a client.
//!
//! The engine's own programs do the same, but read their settings from a command line that takes more crates to build.

mod client;
mod cluster;

use std::error::Error;
use std::process::ExitCode;

const USAGE: &str = "usage: oxperf-cluster scheduler PORT EXECUTORS
       oxperf-cluster executor SCHEDULER-PORT FLIGHT-PORT GRPC-PORT FOLDER
       oxperf-cluster client SCHEDULER-PORT VIEWS.sql STATEMENT.sql RESULT.parquet";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("oxperf-cluster: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // Plans are walked by functions that call themselves.
        .thread_stack_size(32 << 20)
        .build()?;
    match *arguments {
        ["scheduler", port, executors] => {
            runtime.block_on(cluster::schedule(port.parse()?, executors.parse()?))
        }
        ["executor", scheduler, flight, grpc, folder] => {
            let ports = cluster::ExecutorPorts {
                scheduler: scheduler.parse()?,
                flight: flight.parse()?,
                grpc: grpc.parse()?,
            };
            runtime.block_on(cluster::execute(ports, folder))
        }
        ["client", scheduler, views, statement, result] => {
            let client = client::Client {
                scheduler: scheduler.parse()?,
                views: std::fs::read_to_string(views)?,
            };
            let statement = std::fs::read_to_string(statement)?;
            runtime.block_on(client.answer(statement, result.to_owned()))
        }
        _ => Err(USAGE.into()),
    }
}
