import { sql } from "kysely";
import type { DramaDocument } from "../../../src/features/dramas/drama-documents.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../servers/webhook-receiver.ts";
import type { SeenTask } from "../tasks/task-gateway.ts";
import { openTaskStage, type StageCaller, type TaskStage, type WholeTask } from "../tasks/task-stage.ts";
import type { Behaviour } from "../upstreams/behaviour.ts";
import type { FakeCall } from "../upstreams/fake-call.ts";
import type { FakeUpstreams } from "../upstreams/fake-upstreams.ts";
import type { MediaBehaviour } from "../upstreams/media-behaviour.ts";
import type { MediaSubmission } from "../upstreams/media-call.ts";
import { isRecord } from "../upstreams/vendor-refusal.ts";
import { waitUntil } from "../wait-until.ts";
import { type Cast, nameUpstreamModel, type Part, type RouteNumber, writeDramaCatalog } from "./drama-catalog.ts";
import { answerPlay, lighthouse, type Play, type Question } from "./drama-play.ts";

type Fields = Record<string, unknown>;

type SeenOutput = SeenTask["output"][number] & { width?: number; height?: number; duration?: number };

/** A drama as its caller sees it. */
export type SeenDrama = WholeTask & {
  parent_id?: string;
  steps: {
    name: string;
    status: string;
    progress: number;
    charge: string;
    output: SeenOutput[];
    task_ids: string[];
  }[];
};

/** A child task of a drama, as stored. */
export type ChildRow = {
  id: string;
  type: string;
  state: string;
  phase: string;
  model: string;
  /** Its purpose and its step. */
  purpose: string;
  step: string;
};

export type Director = StageCaller & {
  /** Sends a drama; by default `model` is the first cast, and a callback is given. */
  send(body: Fields): Promise<SeenDrama>;
  readDrama(id: string): Promise<SeenDrama>;
  awaitDrama(...asked: Parameters<StageCaller["awaitTask"]>): Promise<SeenDrama>;
  /** Sends a drama, and returns it when it is over. */
  make(body: Fields): Promise<SeenDrama>;
  /** The bytes of an output. */
  fetchOutput(output: { url: string }): Promise<Buffer>;
  readDocument<D extends DramaDocument>(drama: SeenDrama, type: "script" | "roles" | "storyboard"): Promise<D>;
};

export type DramaStage = TaskStage & {
  receiver: WebhookReceiver;
  createDirector(...options: Parameters<TaskStage["createCaller"]>): Promise<Director>;
  /** Scripts the writers' answers for dramas of this title, or of any title. */
  perform(play: Play, title?: string): void;
  /** Scripts a cast's writer for one kind of prompt, on all routes by default; it answers with the lighthouse play. */
  treatWriter(cast: string, question: Question, behaviour: Behaviour, route?: RouteNumber): void;
  /** The same for the other steps. */
  treat(cast: string, part: Exclude<Part, "chat">, behaviour: MediaBehaviour, route?: RouteNumber): void;
  /** The prompts that a cast's writer received, on any route. */
  listQuestions(cast: string, question?: Question): FakeCall[];
  listSubmissions(cast: string, part: Exclude<Part, "chat">): MediaSubmission[];
  /** The routes that received a step's requests, in order. */
  listRoutes(cast: string, part: Part): RouteNumber[];
  listChildren(dramaId: string): Promise<ChildRow[]>;
  /** Resolves when the child tasks of a finished drama are over too. */
  childrenEnded(dramaId: string): Promise<ChildRow[]>;
  /** Resolves when an upstream has accepted a task of the step, or it is being submitted. */
  stepRuns(dramaId: string, step: string): Promise<void>;
};

type DramaStageOptions = Omit<NonNullable<Parameters<typeof openTaskStage>[0]>, "catalog"> & {
  casts?: readonly (string | Cast)[];
};

/**
 * A gateway with drama models of fake vendors that answer at once. When it is closed, the ledger, all tasks and what
 * customers saw are checked, as for every task gateway.
 */
export async function openDramaStage({ casts = ["drama"], ...options }: DramaStageOptions = {}): Promise<DramaStage> {
  const whole = casts.map((cast) => (typeof cast === "string" ? { name: cast } : cast));
  const receiver = await startWebhookReceiver();
  const stage = await openTaskStage({
    ...options,
    catalog: (upstream) => writeDramaCatalog(upstream, whole),
  });
  const { upstream, media, database } = stage;
  performPlay(upstream, lighthouse);

  const listChildren = (dramaId: string) => listDramaChildren(database, dramaId);
  return {
    ...stage,
    receiver,
    createDirector: async (...asked) =>
      createDirector(stage, await stage.createCaller(...asked), {
        model: whole[0]?.name ?? "",
        callback_url: receiver.url,
      }),
    perform: (play, title) => performPlay(upstream, play, title),
    treatWriter(cast, question, behaviour, route) {
      const pieces = [JSON.stringify(answerPlay(lighthouse)[question])];
      upstream.alwaysFor((call) => isOf(cast, "chat", call.model, route) && readQuestion(call) === question, {
        pieces,
        ...behaviour,
      });
    },
    treat(cast, part, behaviour, route) {
      media.alwaysFor(({ model }) => isOf(cast, part, model, route), behaviour);
    },
    listQuestions: (cast, question) =>
      upstream.requests.filter(
        (call) => isOf(cast, "chat", call.model) && (question === undefined || readQuestion(call) === question),
      ),
    listSubmissions: (cast, part) => media.submissions.filter(({ model }) => isOf(cast, part, model)),
    listRoutes(cast, part) {
      const asked = part === "chat" ? upstream.requests : media.submissions;
      return asked.flatMap(({ model }) => ([1, 2] as const).filter((route) => isOf(cast, part, model, route)));
    },
    listChildren,
    async childrenEnded(dramaId) {
      await waitUntil(`the tasks of ${dramaId} to end`, async () =>
        (await listChildren(dramaId)).every(({ phase }) => phase === "ended"),
      );
      return await listChildren(dramaId);
    },
    async stepRuns(dramaId, step) {
      await waitUntil(`${step} of ${dramaId} to be made`, async () =>
        (await listChildren(dramaId)).some((child) => child.step === step && isInHand(child)),
      );
    },
    async [Symbol.asyncDispose]() {
      await stage[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

function isInHand({ phase }: ChildRow): boolean {
  return phase === "submitting" || phase === "running";
}

function isOf(cast: string, part: Part, model: string | null, route?: RouteNumber): boolean {
  const routes = route === undefined ? ([1, 2] as const) : [route];
  return routes.some((each) => nameUpstreamModel(cast, part, each) === model);
}

/** The document that a writer was asked for. */
export function readQuestion({ json }: FakeCall): Question | null {
  const format = isRecord(json) && isRecord(json.response_format) ? json.response_format.json_schema : null;
  return isRecord(format) ? (format.name as Question) : null;
}

/** The facts in a writer's prompt. */
export function readFacts<F extends Fields = Fields>({ json }: FakeCall): F {
  const messages = isRecord(json) && Array.isArray(json.messages) ? json.messages : [];
  const told = messages.find((message: unknown) => isRecord(message) && message.role === "user");
  return JSON.parse(String(told.content)) as F;
}

export function performPlay(upstream: FakeUpstreams, play: Play, title?: string): void {
  for (const [question, answer] of Object.entries(answerPlay(play))) {
    const isMeant = (call: FakeCall): boolean =>
      readQuestion(call) === question && (title === undefined || readFacts(call).title === title);
    // As one piece, which the fake does not truncate.
    upstream.alwaysFor(isMeant, { pieces: [JSON.stringify(answer)] });
  }
}

export async function listDramaChildren(database: Database, dramaId: string): Promise<ChildRow[]> {
  const { rows } = await sql<ChildRow>`
    select tasks.id, tasks.type, tasks.state, tasks.phase, tasks.model, named.key as purpose, step.value ->> 'name' as step
      from tasks
      left join tasks as parent on parent.id = tasks.parent_id
      left join lateral jsonb_array_elements(parent.steps) as step on true
      join lateral jsonb_each_text(step.value -> 'taskIds') as named on named.value = tasks.id
      where tasks.parent_id = ${dramaId} order by tasks.id`.execute(database);
  return rows;
}

function createDirector({ gateway }: TaskStage, caller: StageCaller, usual: Fields): Director {
  const readDrama = async (id: string): Promise<SeenDrama> => (await caller.readTask(id)) as SeenDrama;
  const awaitDrama = async (...asked: Parameters<StageCaller["awaitTask"]>): Promise<SeenDrama> =>
    (await caller.awaitTask(...asked)) as SeenDrama;
  const send = async (body: Fields): Promise<SeenDrama> => {
    const begun =
      body.script === undefined && body.from_task_id === undefined ? { title: "The Lighthouse", script } : {};
    return (await caller.submit("/dramas/generations", { ...usual, ...begun, ...body })) as SeenDrama;
  };
  const fetchOutput = async ({ url }: { url: string }): Promise<Buffer> => {
    const response = await fetch(url.replace(/^https?:\/\/[^/]+/, gateway.siteUrl));
    if (response.status !== 200) throw new Error(`An output was answered with ${response.status}.`);
    return Buffer.from(await response.arrayBuffer());
  };
  return {
    ...caller,
    send,
    readDrama,
    awaitDrama,
    make: async (body) => await awaitDrama((await send(body)).id),
    fetchOutput,
    async readDocument(drama, type) {
      const output = drama.output.find((item) => item.type === type);
      if (output === undefined) throw new Error(`${drama.id} has no ${type}.`);
      return JSON.parse((await fetchOutput(output)).toString());
    },
  };
}

const script = "Anna finds the lamp of the lighthouse out, and Ben goes up with her.";
