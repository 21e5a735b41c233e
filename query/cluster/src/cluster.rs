//! The servers: a scheduler, and executors that read files and exchange rows.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::{SchedulerConfig, TaskDistributionPolicy};
use ballista_scheduler::scheduler_process::start_server;
use datafusion::execution::SessionStateBuilder;

const HOST: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// Memory of an executor's work, in bytes.
const MEMORY: u64 = 1 << 30;

/// Where an executor listens, and where its scheduler does.
#[derive(Clone, Copy)]
pub(crate) struct ExecutorPorts {
    pub(crate) scheduler: u16,
    pub(crate) flight: u16,
    pub(crate) grpc: u16,
}

/// Runs a scheduler, which is ready when so many executors are there.
pub(crate) async fn schedule(port: u16, executors: usize) -> Result<(), Box<dyn Error>> {
    let config = SchedulerConfig {
        external_host: HOST.to_string(),
        bind_host: HOST.to_string(),
        bind_port: port,
        // Every executor gets work, however little there is.
        task_distribution: TaskDistributionPolicy::RoundRobin,
        // Rows that executors exchanged stay until the test has looked at them.
        finished_job_data_clean_up_interval_seconds: 24 * 60 * 60,
        min_ready_executors: executors,
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await?;
    let address = SocketAddr::from((HOST, port));
    Ok(start_server(cluster, address, Arc::new(config)).await?)
}

/// The functions of an executor: by default it lacks those of lists, which the view of frames is made with.
fn functions() -> BallistaFunctionRegistry {
    let state = SessionStateBuilder::new().with_default_features().build();
    BallistaFunctionRegistry::from(&state)
}

/// Runs an executor with one core.
pub(crate) async fn execute(ports: ExecutorPorts, folder: &str) -> Result<(), Box<dyn Error>> {
    let config = ExecutorProcessConfig {
        bind_host: HOST.to_string(),
        external_host: Some(HOST.to_string()),
        port: ports.flight,
        grpc_port: ports.grpc,
        scheduler_host: HOST.to_string(),
        scheduler_port: ports.scheduler,
        vcores: 1,
        work_dir: Some(folder.to_owned()),
        override_function_registry: Some(Arc::new(functions())),
        memory_pool_size: Some(MEMORY),
        ..ExecutorProcessConfig::default()
    };
    Ok(start_executor_process(Arc::new(config)).await?)
}
