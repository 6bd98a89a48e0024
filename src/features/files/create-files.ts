import { Readable } from "node:stream";
import type { AccountId, FileId } from "../../lib/ids.ts";
import { createSemaphore } from "../../lib/semaphore.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { ImageReader } from "../../platform/media/create-image-reader.ts";
import type { InspectedMedia } from "../../platform/media/inspection.ts";
import type { ByteRange } from "../../platform/storage/byte-store.ts";
import { createFileRemoval, type FileRemoval } from "./create-file-removal.ts";
import { createFileStorage } from "./create-file-storage.ts";
import { createThumbnails } from "./create-thumbnails.ts";
import type { StoredFile } from "./file.ts";
import { addFileContentRoute, addFileLinkRoute } from "./file-content-routes.ts";
import type { FileDependencies } from "./file-dependencies.ts";
import { signLink } from "./file-link.ts";
import { addFileRoutes } from "./file-routes.ts";
import { acceptFileForms, type FormDescription, type FormFile, type ReceiveForm, receiveForm } from "./form-routes.ts";
import { findLinkedFile, getFileOfKind, openFile, readDocument } from "./get-file.ts";
import {
  type Inspect,
  inspectSound,
  inspectSpooled,
  type SoundRecording,
  type WantedMedia,
} from "./inspect-spooled.ts";
import { keepDocument, type NewDocument } from "./keep-document.ts";
import { keepOutput, type Output } from "./keep-output.ts";
import { type KeptUpload, keepUpload } from "./upload-file.ts";
import { addUploadRoutes } from "./upload-routes.ts";

type FilesOptions = Omit<FileDependencies, "removal" | "storage" | "inspect" | "inspections" | "isArchived"> & {
  images: ImageReader;
  /** Whether bytes are copied to an archive, by `archiveBytes`. */
  isArchived?: boolean;
  /** Called for bytes that could not be deleted; the sweep retries. */
  onTrouble(error: unknown): void;
};

export type Files = {
  /** POST /files, GET /files, GET /files/{id}, GET /files/{id}/content, DELETE /files/{id}: behind the API key. */
  addRoutes(v1: HttpServer): void;
  /** GET /files/{id}?expires=…&signature=… and its /thumbnail: the targets of signed links, without a key. */
  addLinkRoutes(http: HttpServer): void;
  /** Stores a task's output, checked like an upload unless `media` describes it. Idempotent: the same id returns the same file. */
  keepOutput(output: Output): Promise<StoredFile>;
  /** Stores a document that the gateway wrote for a task; idempotent like `keepOutput`. */
  keepDocument(document: NewDocument): Promise<StoredFile>;
  /** Reads a document of the account; throws an error that names the field if it is missing. */
  readDocument(accountId: AccountId, fileId: string, options: { param: string }): Promise<Buffer>;
  /** Returns a file of the account that has one of the kinds; otherwise throws an error that names the field. */
  getFile(accountId: AccountId, fileId: string, wanted: WantedMedia): Promise<StoredFile>;
  /**
   * Detects the media type of untrusted bytes, as for an upload; throws an error that names the field if it is not
   * wanted.
   */
  inspect(bytes: Buffer, wanted: WantedMedia & { signal?: AbortSignal }): Promise<InspectedMedia>;
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

/** One may decode a large image while another runs ffmpeg; more would starve everything else. */
const inspectionsAtOnceMax = 2;

export function createFiles({ images, onTrouble, isArchived = false, ...given }: FilesOptions): Files {
  const { spool } = given;
  const inspections = createSemaphore(inspectionsAtOnceMax);
  const inspect: Inspect = (path, wanted) => inspectSpooled({ inspections, images }, path, wanted);
  const removal = createFileRemoval({ ...given, onTrouble });
  const storage = createFileStorage({ ...given, removal, isArchived });
  const dependencies: FileDependencies = { ...given, isArchived, inspections, inspect, removal, storage };
  const thumbnails = createThumbnails(dependencies);
  return {
    addRoutes(v1) {
      addUploadRoutes(v1, dependencies);
      addFileRoutes(v1, dependencies);
      addFileContentRoute(v1, dependencies);
    },
    addLinkRoutes: (http) => addFileLinkRoute(http, dependencies, thumbnails),
    keepOutput: (output) => keepOutput(dependencies, output),
    keepDocument: (document) => keepDocument(dependencies, document),
    readDocument: (accountId, fileId, { param }) => readDocument(dependencies, accountId, { fileId, param }),
    getFile: (accountId, fileId, wanted) => getFileOfKind(dependencies, accountId, { fileId, wanted }),
    async inspect(content, { signal = new AbortController().signal, ...wanted }) {
      const spooled = await spool.write(Readable.from([content]), { bytesMax: content.length, signal });
      try {
        return await inspect(spooled.path, { ...wanted, signal });
      } finally {
        await spooled.remove();
      }
    },
    inspectSound: ({ spooled }, { param }) => inspectSound({ inspect, inspections }, spooled.path, { param }),
    openFile: (file, range) => openFile(dependencies, file, range),
    acceptForms: (http, form) => acceptFileForms(http, dependencies, form),
    receiveForm: (request, reply, form) => receiveForm(dependencies, { request, reply, form }),
    keepUpload: ({ signal, ...upload }) => keepUpload(dependencies, { ...upload, purpose: "generation" }, { signal }),
    deleteFile: async (accountId, fileId) => void (await removal.deleteFile({ accountId, fileId })),
    removeExpired: removal.removeExpired,
    findLinkedFile: (accountId, url, { param }) => findLinkedFile(dependencies, accountId, { url, param }),
    signLink: (fileId, now) => signLink(dependencies, fileId, now),
  };
}
