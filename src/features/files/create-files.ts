import { Readable } from "node:stream";
import type { Clock } from "../../lib/clock.ts";
import type { AccountId, FileId, IdSource } from "../../lib/ids.ts";
import { createSemaphore } from "../../lib/semaphore.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import type { Database } from "../../platform/database/database.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { ImageReader } from "../../platform/media/create-image-reader.ts";
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
import { acceptFileForms, type FormDescription, type FormFile, type ReceiveForm, receiveForm } from "./form-routes.ts";
import { findLinkedFile, getFileOfKind, openFile, readDocument } from "./get-file.ts";
import { type Inspect, inspectSound, inspectSpooled, type SoundRecording } from "./inspect-spooled.ts";
import { keepDocument, type NewDocument } from "./keep-document.ts";
import { keepOutput, type Output } from "./keep-output.ts";
import type { KeyedRequests } from "./keyed-requests.ts";
import { type KeptUpload, keepUpload, type Upload, type UploadOutcome, uploadFile } from "./upload-file.ts";
import { addUploadRoutes } from "./upload-routes.ts";

type FilesDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  bytes: ByteStore;
  spool: Spool;
  images: ImageReader;
  counters: Counters;
  keyedRequests: KeyedRequests;
  limits: FileLimits;
  hasMoney: HasMoney;
  linkKey: Buffer;
  siteUrl: string;
  /** Whether bytes are copied to an archive, by `archiveBytes`. */
  isArchived?: boolean;
  /** Called for bytes that could not be deleted; the sweep retries. */
  onTrouble(error: unknown): void;
};

type WantedFile = { param: string; kinds: readonly FileKind[] };

export type Files = {
  /** POST /files, GET /files, GET /files/{id}, GET /files/{id}/content, DELETE /files/{id}: behind the API key. */
  addRoutes(v1: HttpServer): void;
  /** GET /files/{id}?expires=…&signature=… and its /thumbnail: the targets of signed links, without a key. */
  addLinkRoutes(http: HttpServer): void;
  /** Stores a task's output, checked like an upload. Idempotent: the same id returns the same file. */
  keepOutput(output: Output): Promise<StoredFile>;
  /** Stores a document that the gateway wrote for a task; idempotent like `keepOutput`. */
  keepDocument(document: NewDocument): Promise<StoredFile>;
  /** Reads a document of the account; throws an error that names the field if it is missing. */
  readDocument(accountId: AccountId, fileId: string, options: { param: string }): Promise<Buffer>;
  /** Returns a file of the account that has one of the kinds; otherwise throws an error that names the field. */
  getFile(accountId: AccountId, fileId: string, wanted: WantedFile): Promise<StoredFile>;
  /**
   * Detects the media type of untrusted bytes, as for an upload; throws an error that names the field if it is not
   * wanted.
   */
  inspect(bytes: Buffer, wanted: WantedFile & { signal?: AbortSignal }): Promise<InspectedMedia>;
  /** The same for an uploaded recording, which must contain audible sound. */
  inspectSound(file: FormFile, options: { param: string }): Promise<SoundRecording>;
  /** Throws `file_not_found` if the file was deleted meanwhile. */
  openFile(file: StoredFile, range?: ByteRange): Promise<Readable>;
  /** Makes the routes of a scope accept multipart forms with files, and nothing else. */
  acceptForms(http: HttpServer, form: FormDescription): Promise<void>;
  /** Reads a form like an upload. The caller removes its files. */
  receiveForm: ReceiveForm;
  /** Stores a file of a form as an upload of the account. */
  keepUpload(upload: Omit<KeptUpload, "purpose"> & { signal: AbortSignal }): Promise<StoredFile>;
  /** Deletes a file of the account, if it exists. */
  deleteFile(accountId: AccountId, fileId: FileId): Promise<void>;
  removeExpired: FileRemoval["removeExpired"];
  /**
   * Resolves a signed link to a file of the account; `null` if the URL is not ours. Throws `invalid_url` if it is ours but
   * does not lead to a file of the account.
   */
  findLinkedFile(accountId: AccountId, url: string, options: { param: string }): Promise<FileId | null>;
  /** Pure and fast: a URL under which anyone can read the file for a day. */
  signLink(fileId: FileId, now: Date): { url: string; expiresAt: Date };
};

/** One may decode a large image while another runs ffprobe; more would starve everything else. */
const inspectionsAtOnceMax = 2;

export function createFiles(dependencies: FilesDependencies): Files {
  const { database, clock, ids, bytes, spool, images, counters, keyedRequests, limits, linkKey, siteUrl } =
    dependencies;
  const { hasMoney, onTrouble, isArchived = false } = dependencies;
  const { uploadBytesMax, outputBytesMax } = limits;
  const inspections = createSemaphore(inspectionsAtOnceMax);
  const inspect: Inspect = (path, wanted) => inspectSpooled({ inspections, images }, path, wanted);
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
