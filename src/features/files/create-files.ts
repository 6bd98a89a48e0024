import { Readable } from "node:stream";
import type { Clock } from "../../lib/clock.ts";
import type { AccountId, FileId, IdSource } from "../../lib/ids.ts";
import { createSemaphore } from "../../lib/semaphore.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import type { Database } from "../../platform/database/database.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { PictureReader } from "../../platform/media/create-picture-reader.ts";
import type { InspectedMedia } from "../../platform/media/inspection.ts";
import type { ByteRange, ByteStore } from "../../platform/storage/byte-store.ts";
import type { Spool } from "../../platform/storage/create-spool.ts";
import type { HasMoney } from "./check-usage.ts";
import { createFileRemoval, type FileRemoval } from "./create-file-removal.ts";
import { createFileStorage } from "./create-file-storage.ts";
import { createThumbnails } from "./create-thumbnails.ts";
import type { FileKind, FileLimits, StoredFile } from "./file.ts";
import { addFileContentRoute, addFileLinkRoute } from "./file-content-routes.ts";
import { signLink } from "./file-link.ts";
import { addFileRoutes } from "./file-routes.ts";
import { findLinkedFile } from "./find-linked-file.ts";
import { acceptFileForms, type FormDescription, type FormFile, type ReceiveForm, receiveForm } from "./form-routes.ts";
import { getFileOfKind } from "./get-file.ts";
import { inspectSound, type SoundRecording } from "./inspect-sound.ts";
import { type Inspect, inspectSpooled } from "./inspect-spooled.ts";
import { keepDocument, type NewDocument } from "./keep-document.ts";
import { keepOutput, type Output } from "./keep-output.ts";
import type { KeyedRequests } from "./keyed-requests.ts";
import { openFile } from "./open-file.ts";
import { readDocument } from "./read-document.ts";
import { type KeptUpload, keepUpload, type Upload, type UploadOutcome, uploadFile } from "./upload-file.ts";
import { addUploadRoutes } from "./upload-routes.ts";

type FilesDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  bytes: ByteStore;
  spool: Spool;
  pictures: PictureReader;
  counters: Counters;
  keyedRequests: KeyedRequests;
  limits: FileLimits;
  hasMoney: HasMoney;
  linkKey: Buffer;
  siteUrl: string;
  /** Whether bytes are copied to an archive, by `archiveBytes`. */
  isArchived?: boolean;
  /** Told of bytes that could not be removed; somebody tries again. */
  onTrouble(error: unknown): void;
};

type WantedFile = { param: string; kinds: readonly FileKind[] };

export type Files = {
  /** POST /files, GET /files, GET /files/{id}, GET /files/{id}/content, DELETE /files/{id}: behind the API key. */
  addRoutes(v1: HttpServer): void;
  /** GET /files/{id}?expires=…&signature=…, and its /thumbnail: where signed links lead to. No key. */
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
  /** The same for a recording that came in a form, in which there has to be something to hear. */
  inspectSound(file: FormFile, options: { param: string }): Promise<SoundRecording>;
  /** Throws `file_not_found` where the file was deleted meanwhile. */
  openFile(file: StoredFile, range?: ByteRange): Promise<Readable>;
  /** Has the routes of a scope take files in a form, and nothing else. */
  acceptForms(http: HttpServer, form: FormDescription): Promise<void>;
  /** Reads a form as an upload is read. Whoever has it removes it. */
  receiveForm: ReceiveForm;
  /** Keeps a file of a form as an upload of the account. */
  keepUpload(upload: Omit<KeptUpload, "purpose"> & { signal: AbortSignal }): Promise<StoredFile>;
  /** Removes a file of the account, if it is there. */
  deleteFile(accountId: AccountId, fileId: FileId): Promise<void>;
  removeExpired: FileRemoval["removeExpired"];
  /**
   * The file of the account that a link of ours leads to; `null` where the address is not ours. Throws `invalid_url`
   * where it is ours and leads to nothing of the account's.
   */
  findLinkedFile(accountId: AccountId, url: string, options: { param: string }): Promise<FileId | null>;
  /** Pure and quick: an address under which anybody can read the file for a day. */
  signLink(fileId: FileId, now: Date): { url: string; expiresAt: Date };
};

/** One may decode a large image while another runs a program; more would starve everything else. */
const inspectionsAtOnceMax = 2;

export function createFiles(dependencies: FilesDependencies): Files {
  const { database, clock, ids, bytes, spool, pictures, counters, keyedRequests, limits, linkKey, siteUrl } =
    dependencies;
  const { hasMoney, onTrouble, isArchived = false } = dependencies;
  const { uploadBytesMax, outputBytesMax } = limits;
  const inspections = createSemaphore(inspectionsAtOnceMax);
  const inspect: Inspect = (path, wanted) => inspectSpooled({ inspections, pictures }, path, wanted);
  const removal = createFileRemoval({ database, clock, bytes, onTrouble });
  const storage = createFileStorage({ database, clock, ids, bytes, limits, hasMoney, removal, isArchived });
  const thumbnails = createThumbnails({ database, bytes, spool });
  const uploads = { database, clock, ids, limits, hasMoney, spool, keyedRequests, inspect, storage };
  return {
    addRoutes(v1) {
      const upload = (sent: Upload): Promise<UploadOutcome> => uploadFile(uploads, sent);
      addUploadRoutes(v1, { counters, uploadBytesMax, parseKey: keyedRequests.parseKey, upload });
      addFileRoutes(v1, { database, clock, removal });
      addFileContentRoute(v1, { database, clock, bytes });
    },
    addLinkRoutes: (http) => addFileLinkRoute(http, { database, clock, bytes, linkKey, thumbnails }),
    keepOutput: (output) => keepOutput({ database, storage, inspect, inspections, spool, outputBytesMax }, output),
    keepDocument: (document) => keepDocument({ database, storage, spool }, document),
    readDocument: (accountId, fileId, { param }) =>
      readDocument({ database, clock, bytes }, accountId, { fileId, param }),
    getFile: (accountId, fileId, wanted) => getFileOfKind({ database, clock }, accountId, { fileId, wanted }),
    async inspect(content, { signal = new AbortController().signal, ...wanted }) {
      const spooled = await spool.write(Readable.from([content]), { bytesMax: content.length, signal });
      try {
        return await inspect(spooled.path, { ...wanted, signal });
      } finally {
        await spooled.remove();
      }
    },
    inspectSound: ({ spooled }, { param }) => inspectSound({ inspect, inspections }, spooled.path, { param }),
    openFile: (file, range) => openFile({ bytes }, file, range),
    acceptForms: (http, form) => acceptFileForms(http, uploadBytesMax, form),
    receiveForm: (request, reply, form) => receiveForm({ counters, spool, uploadBytesMax }, { request, reply, form }),
    keepUpload: ({ signal, ...upload }) =>
      keepUpload({ ids, inspect, storage }, { ...upload, purpose: "generation" }, { signal }),
    deleteFile: async (accountId, fileId) => void (await removal.deleteFile({ accountId, fileId })),
    removeExpired: removal.removeExpired,
    findLinkedFile: (accountId, url, { param }) =>
      findLinkedFile({ database, clock, linkKey, siteUrl }, accountId, { url, param }),
    signLink: (fileId, now) => signLink({ linkKey, siteUrl }, fileId, now),
  };
}
