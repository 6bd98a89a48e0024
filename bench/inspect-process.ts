import { once } from "node:events";
import { waitUntil } from "../test/harness/wait-until.ts";

export type Inspector = { collectGarbage(): Promise<void>; close(): void };

/** Connects to the debugger of a process that was started with `--inspect-port`, whatever program it runs. */
export async function openInspector({ processId, port }: { processId: number; port: number }): Promise<Inspector> {
  process.kill(processId, "SIGUSR1");
  const address = await waitUntil("the debugger listens", () => findAddress(port));
  const socket = new WebSocket(address);
  await once(socket, "open");
  let lastId = 0;

  async function call(method: string): Promise<void> {
    lastId += 1;
    const id = lastId;
    socket.send(JSON.stringify({ id, method }));
    for (;;) {
      const [event] = (await once(socket, "message")) as [{ data: string }];
      if ((JSON.parse(event.data) as { id?: number }).id === id) return;
    }
  }

  return { collectGarbage: () => call("HeapProfiler.collectGarbage"), close: () => socket.close() };
}

async function findAddress(port: number): Promise<string | null> {
  try {
    const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
      webSocketDebuggerUrl: string;
    }[];
    return target?.webSocketDebuggerUrl ?? null;
  } catch {
    // It does not listen yet.
    return null;
  }
}
