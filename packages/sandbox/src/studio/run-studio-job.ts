import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { describeMediaMachine, listMediaPrograms, MediaToolError } from "../../../../src/providers/adapter-tools.ts";
import { ProviderError } from "../../../../src/providers/contract.ts";
import type { GenerationInput, GenerationRequest } from "../../../../src/providers/generation.ts";
import { startStudioProcess } from "./start-studio-process.ts";
import type { StudioOrder, StudioReport } from "./studio-order.ts";

export type StudioJobCall = {
  request: GenerationRequest;
  inputs: readonly GenerationInput[];
  folder: string;
  cacheDir: string;
  signal: AbortSignal;
  onReport(report: StudioReport): void;
};

const inputBytesMax = 512 * 1024 * 1024;
const jobMsMin = 3 * 60_000;
const jobMsMax = 45 * 60_000;

/** Runs a job in its own process. Throws a `ProviderError`, or the signal's reason. */
export async function runStudioJob(call: StudioJobCall): Promise<void> {
  const { request, folder, cacheDir, signal } = call;
  try {
    const [givenDir, madeDir] = [join(folder, "given"), join(folder, "made")];
    for (const path of [givenDir, madeDir]) await mkdir(path, { recursive: true, mode: 0o700 });
    const inputs = await saveInputs(call, givenDir);
    const machine = request.type === "image" ? null : await describeMediaMachine();
    const order: StudioOrder = { request, inputs, folder: madeDir, machine };
    const running = await startStudioProcess({
      program: "studio-process.ts",
      order,
      reads: inputs.map(({ path }) => path),
      runs: machine === null ? [] : listMediaPrograms(machine),
      writes: [madeDir],
      cacheDir,
      signal,
      timeoutMs: allowMs(request),
    });
    let refusal: Extract<StudioReport, { kind: "refusal" }> | null = null;
    createInterface({ input: running.stdout }).on("line", (line) => {
      const report = JSON.parse(line) as StudioReport;
      if (report.kind === "refusal") refusal = report;
      else call.onReport(report.kind === "output" ? { ...report, name: join("made", report.name) } : report);
    });
    await running.ended;
    if (refusal !== null) throw describeRefusal(refusal);
  } catch (error) {
    signal.throwIfAborted();
    throw translate(error);
  }
}

function describeRefusal({ message, param }: { message: string; param: string | null }): ProviderError {
  return new ProviderError("rejected", "The studio cannot make this.", {
    isIsolated: true,
    param,
    detail: { refusal: message },
  });
}

/** Longer videos may take longer; media without a known length get the maximum. */
function allowMs(request: GenerationRequest): number {
  if (request.type === "avatar") return jobMsMax;
  return request.type === "video" ? jobMsMin + request.durationSeconds * 15_000 : jobMsMin;
}

async function saveInputs({ inputs, signal }: StudioJobCall, folder: string): Promise<StudioOrder["inputs"]> {
  const saved: StudioOrder["inputs"][number][] = [];
  for (const [index, { role, contentType, open }] of inputs.entries()) {
    const path = join(folder, `input-${index}`);
    await pipeline(await open(), limitBytes(inputBytesMax), createWriteStream(path, { mode: 0o600 }), { signal });
    saved.push({ role, contentType, path });
  }
  return saved;
}

function limitBytes(bytesMax: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > bytesMax)
        done(new ProviderError("rejected", "An input is too large for the studio.", { isIsolated: true }));
      else done(null, chunk);
    },
  });
}

function translate(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  if (error instanceof MediaToolError) {
    const { kind, detail = {} } = error;
    return new ProviderError(kind === "timeout" ? "timeout" : "bad-answer", error.message, { detail, cause: error });
  }
  const message = error instanceof Error ? error.message : "The studio process could not start.";
  return new ProviderError("unreachable", message, { cause: error });
}
