/**
 * Preloaded into a gateway's process: measures the longest block of its event loop, in CPU time of the thread, so that
 * it is the same on a busy machine. On a signal it prints the value and resets it.
 */
const lookEveryMs = 5;
let last = process.threadCpuUsage();
let longestMs = 0;

setInterval(() => {
  const { user, system } = process.threadCpuUsage(last);
  last = process.threadCpuUsage();
  longestMs = Math.max(longestMs, (user + system) / 1000);
}, lookEveryMs).unref();

process.on("SIGUSR2", () => {
  console.log(JSON.stringify({ msg: "longest hold", ms: longestMs }));
  longestMs = 0;
});
