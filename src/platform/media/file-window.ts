import { type FileHandle, open } from "node:fs/promises";

/** Buffered random access to a file. */
export type FileWindow = {
  size: number;
  /** Returns fewer bytes at the end of the file. The buffer is valid until the next read. */
  read(position: number, length: number): Promise<Buffer>;
};

const windowBytes = 256 * 1024;

export async function withFileWindow<T>(path: string, read: (file: FileWindow) => Promise<T>): Promise<T> {
  const handle = await open(path, "r");
  try {
    return await read(createWindow(handle, (await handle.stat()).size));
  } finally {
    await handle.close();
  }
}

function createWindow(handle: FileHandle, size: number): FileWindow {
  const buffer = Buffer.alloc(windowBytes);
  let start = 0;
  let filled = 0;

  async function move(position: number): Promise<void> {
    const { bytesRead } = await handle.read(buffer, 0, windowBytes, position);
    start = position;
    filled = bytesRead;
  }

  return {
    size,
    async read(position, length) {
      if (position < start || position + length > start + filled) await move(position);
      return buffer.subarray(position - start, Math.min(position - start + length, filled));
    },
  };
}
