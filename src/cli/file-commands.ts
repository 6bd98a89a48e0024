import { createFileRemoval, listFiles, type StoredFile } from "../features/files/index.ts";
import type { AccountId } from "../lib/ids.ts";
import { AppError } from "../platform/errors/app-error.ts";
import { openByteStore } from "../platform/storage/open-byte-store.ts";
import type { Command } from "./command.ts";
import { createWrongValue, readNumber } from "./option-values.ts";
import { presentRows } from "./present-rows.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const filesMax = 10_000;
const defaultLimit = "100";

const listCommand: Command = {
  name: "file list",
  summary: "List files, newest first: uploads and task outputs.",
  options: {
    account: { placeholder: "account id", description: "Only files of this account." },
    limit: { placeholder: "number", description: `The maximum number. Default: ${defaultLimit}.` },
  },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const limit = readNumber("limit", options.limit ?? defaultLimit);
      if (limit < 1 || limit > filesMax) throw createWrongValue("limit", `a number from 1 to ${filesMax}`);
      const filter = options.account === undefined ? {} : { accountId: options.account as AccountId };
      const files = await listFiles(database, filter, { limit });
      const heading = ["ID", "ACCOUNT", "PURPOSE", "TYPE", "BYTES", "EXPIRES", "NAME"];
      return {
        json: files.map(presentFileJson),
        text: files.length === 0 ? "No files." : presentRows(heading, files.map(toRow)),
      };
    }),
};

const purgeCommand: Command = {
  name: "file purge",
  summary: "Delete expired files now, or one file.",
  options: { file: { placeholder: "file id", description: "Delete only this file." } },
  run: ({ options: { file: fileId }, terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const { clock } = systemDependencies;
      const bytes = await openByteStore(settings);
      const onTrouble = () => terminal.printNote("Some stored bytes could not be deleted. The gateway will retry.");
      const removal = createFileRemoval({ database, clock, bytes, onTrouble });
      try {
        if (fileId === undefined) {
          const { files, removedBytes } = await removal.removeExpired();
          const text = `Deleted ${files} expired files and the stored bytes of ${removedBytes}.`;
          return { json: { files, removed_bytes: removedBytes }, text };
        }
        if (!(await removal.deleteFile({ fileId }))) {
          throw new AppError(
            "file_not_found",
            `There is no file ${fileId}. List them: npm run -s sluice -- file list`,
            { param: "file" },
          );
        }
        return { json: { id: fileId, deleted: true }, text: `Deleted ${fileId}.` };
      } finally {
        await bytes.close();
      }
    }),
};

export const fileCommands: readonly Command[] = [listCommand, purgeCommand];

function toRow(file: StoredFile): string[] {
  return [
    file.id,
    file.accountId,
    file.purpose,
    file.contentType,
    String(file.bytes),
    file.expiresAt.toISOString(),
    file.filename,
  ];
}

function presentFileJson(file: StoredFile): Record<string, unknown> {
  return {
    id: file.id,
    account: file.accountId,
    purpose: file.purpose,
    kind: file.kind,
    content_type: file.contentType,
    bytes: file.bytes,
    sha256: file.sha256,
    filename: file.filename,
    width: file.width,
    height: file.height,
    duration_ms: file.durationMs,
    created_at: file.createdAt.toISOString(),
    expires_at: file.expiresAt.toISOString(),
  };
}
