import type { ServerResponse } from "node:http";

/** An answer of bytes that is sent while it is made. */
export type ByteStream = {
  /** Answers whether more can be taken at once. To a client that is gone, anything can be. */
  write(bytes: Uint8Array): boolean;
  end(): void;
};

type ByteStreamOptions = {
  headers: Record<string, number | string | string[] | undefined>;
  /** Called when a client that was too slow can take more. */
  onDrain(): void;
};

/** A client who takes nothing for so long has gone. */
const readerMsMax = 60_000;

/** Sends the head and begins. */
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
