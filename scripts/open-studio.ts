// Opens the sandbox's studio without a gateway, for scripts that create media for the docs and the site.
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { createSandboxGeneration } from "../packages/sandbox/src/studio/create-sandbox-generation.ts";
import { createStudio } from "../packages/sandbox/src/studio/create-studio.ts";
import { systemClock } from "../src/lib/clock.ts";
import { runMediaTool } from "../src/platform/media/run-media-tool.ts";
import type { GenerationInput, GenerationRequest } from "../src/providers/generation.ts";

const signal = new AbortController().signal;

type Studio = {
  /** Creates the media and logs the duration. */
  make(request: GenerationRequest, inputs?: readonly GenerationInput[]): Promise<Buffer[]>;
  close(): Promise<void>;
};

export function openStudio(folder: string): Studio {
  const generation = createSandboxGeneration({ studio: createStudio({ folder, clock: systemClock }) });
  let taskCount = 0;
  return {
    async make(request, inputs = []) {
      taskCount += 1;
      const call = {
        taskId: `made-${taskCount}`,
        request,
        inputs,
        route: {},
        upstreamModel: "",
        apiKey: null,
        timeoutMs: 600_000,
        signal,
      };
      const outcome = await generation.submit(call);
      if (outcome.kind !== "accepted") throw new Error("The studio did not accept the work.");
      const startedAt = performance.now();
      for (;;) {
        const state = await generation.poll(outcome.handle, call);
        if (state.kind === "done") {
          const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
          console.log(`${seconds.padStart(6)} s  ${JSON.stringify(request)}`);
          return Promise.all(state.outputs.map(async (output) => buffer(await output.open(signal))));
        }
        if (state.kind !== "running")
          throw new Error(`The studio returned ${state.kind}.`, { cause: "error" in state ? state.error : undefined });
        await wait(200);
      }
    },
    close: () => generation.close(),
  };
}

export function asInput(role: GenerationInput["role"], bytes: Buffer, contentType: string): GenerationInput {
  return { role, contentType, bytes: bytes.length, url: null, open: async () => Readable.from([bytes]) };
}

/** Runs ffmpeg on trusted files and returns its output on `pipe:1`. */
export async function runFfmpeg(args: readonly string[]): Promise<Buffer> {
  const { stdout } = await runMediaTool({
    tool: "ffmpeg",
    source: "ours",
    args,
    signal,
    timeoutMs: 120_000,
    stdoutBytesMax: 50_000_000,
  });
  return stdout;
}
