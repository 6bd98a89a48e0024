/** Tells the parent where this process serves, and, whenever asked, how much CPU time it has used. */
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
  // A server does not outlive the bench that it serves.
  process.once("disconnect", () => process.exit());
  process.send?.({ port: server.port, key: server.key });
}
