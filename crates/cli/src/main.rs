//! The `oxperf` program.

fn main() -> std::process::ExitCode {
    oxperf::explain_panics();
    oxperf::run(std::env::args_os())
}
