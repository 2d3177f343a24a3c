/** Benchmarks take it from here, because it is installed for tests and benchmarks only. */
export { default as autocannon } from 'autocannon';
