import type { ServerResponse } from "node:http";

/** A streamed binary response. */
export type ByteStream = {
  /** Returns `false` on back-pressure. Writes to a closed connection are discarded and return `true`. */
  write(bytes: Uint8Array): boolean;
  end(): void;
};

type ByteStreamOptions = {
  headers: Record<string, number | string | string[] | undefined>;
  /** Called when back-pressure ends. */
  onDrain(): void;
};

/** A client that reads nothing for this long is disconnected. */
const readerMsMax = 60_000;

export function openByteStream(response: ServerResponse, { headers, onDrain }: ByteStreamOptions): ByteStream {
  response.writeHead(200, headers);

  function awaitDrain(): void {
    const timer = setTimeout(() => response.destroy(), readerMsMax);
    const goOn = (): void => {
      clearTimeout(timer);
      response.off("drain", goOn).off("close", goOn);
      onDrain();
    };
    response.once("drain", goOn).once("close", goOn);
  }

  return {
    write(bytes) {
      if (response.destroyed || response.write(bytes)) return true;
      awaitDrain();
      return false;
    },
    end: () => void response.end(),
  };
}
