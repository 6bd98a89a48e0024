/**
 * Loaded into a gateway's process before it: measures the longest that its event loop was held, in the time that the
 * thread itself has computed, so that it is the same on a busy machine. Told by a signal, it says so and begins anew.
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
