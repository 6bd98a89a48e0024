import { AppError } from "../../platform/errors/app-error.ts";
import type { FileLimits } from "./file.ts";
import type { FileUsage } from "./file-store.ts";

/** Throws where an account would have more than it may. */
export function checkUsage(
  { files, bytes }: FileUsage,
  { accountFilesMax, accountBytesMax }: Pick<FileLimits, "accountFilesMax" | "accountBytesMax">,
): void {
  if (files > accountFilesMax) {
    throw createRefusal(`The account has its ${accountFilesMax} files already. Delete some first.`);
  }
  if (bytes > accountBytesMax) {
    throw createRefusal(
      `The account's files would be larger than ${accountBytesMax} bytes together. Delete some first.`,
    );
  }
}

function createRefusal(message: string): AppError {
  return new AppError("payload_too_large", message, { param: "file", headers: { connection: "close" } });
}
