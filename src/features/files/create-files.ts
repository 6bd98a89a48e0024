import { Readable } from "node:stream";
import type { AccountId, FileId } from "../../lib/ids.ts";
import { createSemaphore } from "../../lib/semaphore.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { PictureReader } from "../../platform/media/create-picture-reader.ts";
import type { InspectedMedia } from "../../platform/media/inspection.ts";
import type { ByteRange } from "../../platform/storage/byte-store.ts";
import type { Spool } from "../../platform/storage/create-spool.ts";
import { deleteFile } from "./delete-file.ts";
import type { FileKind, StoredFile } from "./file.ts";
import { addFileContentRoute, addFileLinkRoute } from "./file-content-routes.ts";
import { type LinkParts, signLink } from "./file-link.ts";
import { addFileRoutes } from "./file-routes.ts";
import { findLinkedFile } from "./find-linked-file.ts";
import { acceptFileForms, type FormDescription, type ReceiveForm, receiveForm } from "./form-routes.ts";
import { getFileOfKind } from "./get-file.ts";
import { inspectSpooled } from "./inspect-spooled.ts";
import { keepDocument, type NewDocument } from "./keep-document.ts";
import { keepOutput, type Output } from "./keep-output.ts";
import type { KeyedRequests } from "./keyed-requests.ts";
import { openFile } from "./open-file.ts";
import { readDocument } from "./read-document.ts";
import type { StoreParts } from "./store-file.ts";
import { type KeptUpload, keepUpload } from "./upload-file.ts";
import { addUploadRoutes } from "./upload-routes.ts";

export type FilesParts = StoreParts &
  LinkParts & {
    spool: Spool;
    pictures: PictureReader;
    counters: Counters;
    keyedRequests: KeyedRequests;
  };

type WantedFile = { param: string; kinds: readonly FileKind[] };

export type Files = {
  /** POST /files, GET /files, GET /files/{id}, GET /files/{id}/content, DELETE /files/{id}: behind the API key. */
  addRoutes(v1: HttpServer): void;
  /** GET /files/{id}?expires=…&signature=…: where signed links lead to. No key. */
  addLinkRoutes(http: HttpServer): void;
  /** Keeps what a task made, checked like an upload. Its id is made beforehand: keeping it again answers the same file. */
  keepOutput(output: Output): Promise<StoredFile>;
  /** Keeps what the gateway wrote for a task; in all else as `keepOutput`. */
  keepDocument(document: NewDocument): Promise<StoredFile>;
  /** All of a document of the account that is there; else an error that names the field. */
  readDocument(accountId: AccountId, fileId: string, options: { param: string }): Promise<Buffer>;
  /** A file of the account that is there and of one of the kinds; else an error that names the field. */
  getFile(accountId: AccountId, fileId: string, wanted: WantedFile): Promise<StoredFile>;
  /** What a stranger's bytes are, decided as for an upload; an error that names the field where they are not wanted. */
  inspect(bytes: Buffer, wanted: WantedFile & { signal?: AbortSignal }): Promise<InspectedMedia>;
  /** Throws `file_not_found` where the file was deleted meanwhile. */
  openFile(file: StoredFile, range?: ByteRange): Promise<Readable>;
  /** Has the routes of a scope take files in a form, and nothing else. */
  acceptForms(http: HttpServer, form: FormDescription): Promise<void>;
  /** Reads a form as an upload is read. Whoever has it removes it. */
  receiveForm: ReceiveForm;
  /** Keeps a file of a form as an upload of the account. */
  keepUpload(upload: KeptUpload): Promise<StoredFile>;
  /** Removes a file of the account, if it is there. */
  deleteFile(accountId: AccountId, fileId: FileId): Promise<void>;
  /**
   * The file of the account that a link of ours leads to; `null` where the address is not ours. Throws `invalid_url`
   * where it is ours and leads to nothing of the account's.
   */
  findLinkedFile(accountId: AccountId, url: string, options: { param: string }): Promise<FileId | null>;
  /** Pure and quick: an address under which anybody can read the file for a day. */
  signLink(fileId: FileId, now: Date): { url: string; expiresAt: Date };
};

/** One may decode a large picture while another runs a program; more would starve everything else. */
const inspectionsAtOnceMax = 2;

export function createFiles(given: FilesParts): Files {
  const parts = { ...given, inspections: createSemaphore(inspectionsAtOnceMax) };
  return {
    addRoutes(v1) {
      addUploadRoutes(v1, parts);
      addFileRoutes(v1, parts);
      addFileContentRoute(v1, parts);
    },
    addLinkRoutes: (http) => addFileLinkRoute(http, parts),
    keepOutput: (output) => keepOutput(parts, output),
    keepDocument: (document) => keepDocument(parts, document),
    readDocument: (accountId, fileId, { param }) => readDocument(parts, accountId, { fileId, param }),
    getFile: (accountId, fileId, wanted) => getFileOfKind(parts, accountId, { fileId, wanted }),
    async inspect(bytes, { signal = new AbortController().signal, ...wanted }) {
      const spooled = await parts.spool.write(Readable.from([bytes]), { bytesMax: bytes.length, signal });
      try {
        return await inspectSpooled(parts, spooled.path, { ...wanted, signal });
      } finally {
        await spooled.remove();
      }
    },
    openFile: (file, range) => openFile(parts, file, range),
    acceptForms: (http, form) => acceptFileForms(http, parts, form),
    receiveForm: (request, reply, form) => receiveForm(parts, { request, reply, form }),
    keepUpload: (upload) => keepUpload(parts, upload),
    deleteFile: async (accountId, fileId) => void (await deleteFile(parts, { accountId, fileId })),
    findLinkedFile: (accountId, url, { param }) => findLinkedFile(parts, accountId, { url, param }),
    signLink: (fileId, now) => signLink(parts, fileId, now),
  };
}
