import type { ServerResponse } from "node:http";
import { canary } from "./canary.ts";
import { endlessSilence } from "./gate.ts";
import type { MediaBehaviour, OutputFault } from "./media-behaviour.ts";
import type { MediaSample } from "./media-samples.ts";

/** The outputs of the fakes, and their addresses. */
export type MadeFiles = {
  /** Stores a file and returns its address, on the origin of the fakes by default. */
  add(sample: MediaSample, behaviour: MediaBehaviour): string;
  takes(path: string): boolean;
  serve(path: string, response: ServerResponse, signal: AbortSignal): Promise<void>;
};

const folder = `/${canary}-files/`;

export function createMadeFiles({ getOrigin }: { getOrigin(): string }): MadeFiles {
  const files = new Map<string, { sample: MediaSample; fault: OutputFault | undefined }>();
  return {
    add(sample, { output, outputUrl }) {
      const path = `${folder}${files.size + 1}.${sample.extension}`;
      files.set(path, { sample, fault: output });
      return outputUrl ?? getOrigin() + path;
    },
    takes: (path) => path.startsWith(folder),
    async serve(path, response, signal) {
      const file = files.get(path);
      if (file === undefined) response.writeHead(404, { server: canary }).end(`${canary}: no such file`);
      else await sendFile(file.sample, file.fault, { response, signal });
    },
  };
}

type Receiver = { response: ServerResponse; signal: AbortSignal };

async function sendFile(
  { bytes, contentType }: MediaSample,
  fault: OutputFault | undefined,
  { response, signal }: Receiver,
): Promise<void> {
  const headers = { server: canary, "content-type": contentType, "content-length": String(bytes.length) };
  const sendHalf = (): Promise<void> =>
    new Promise((written) => {
      response.writeHead(200, headers).write(bytes.subarray(0, bytes.length / 2), () => written());
    });
  if (fault === undefined) {
    response.writeHead(200, headers).end(bytes);
  } else if (typeof fault === "object") {
    response.writeHead(302, { server: canary, location: fault.redirectTo }).end();
  } else {
    switch (fault) {
      case "forbidden":
        response.writeHead(403, { server: canary }).end(`<Error>${canary}: Request has expired</Error>`);
        return;
      case "wrong-type":
        response.writeHead(200, { server: canary, "content-type": "text/html" }).end(`<html>${canary}</html>`);
        return;
      case "huge":
        response.writeHead(200, { ...headers, "content-length": String(2 ** 31) }).write(bytes);
        return;
      case "compressed":
        response.writeHead(200, { ...headers, "content-encoding": "gzip" }).end(bytes);
        return;
      case "cut":
        await sendHalf();
        response.socket?.destroySoon();
        return;
      case "silent":
        await sendHalf();
        await endlessSilence.pass(signal).catch(() => {});
    }
  }
}
