/** Sends the parent this process's port, and on request its CPU time. */
export function serveOnRequest(server: { port: number; key: string; close(): Promise<void> }): void {
  process.on("message", async (message) => {
    if (message === "cpu") {
      const { user, system } = process.cpuUsage();
      process.send?.({ cpuUs: user + system });
    } else {
      await server.close();
      process.disconnect?.();
    }
  });
  // A server does not outlive its bench.
  process.once("disconnect", () => process.exit());
  process.send?.({ port: server.port, key: server.key });
}
