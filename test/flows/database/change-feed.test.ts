import { spawn } from "node:child_process";
import { createServer, connect as openSocket, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { requireSharedNodes } from "../../../src/app/require-shared-nodes.ts";
import type { Settings } from "../../../src/platform/config/load-settings.ts";
import { type ChangeFeed, openChangeFeed } from "../../../src/platform/database/change-feed.ts";
import {
  createDatabase,
  type DatabaseAddress,
  serverTimeQuery,
  toDatabaseAddress,
} from "../../../src/platform/database/database.ts";
import { locate } from "../../../src/platform/database/database-address.ts";
import type { TimeReading } from "../../../src/platform/database/database-clock.ts";
import { findPostmaster } from "../../../src/platform/database/embedded/postmaster.ts";
import { type NodeFacts, presentNodeName } from "../../../src/platform/database/node-names.ts";
import { type OpenDatabase, openDatabase } from "../../../src/platform/database/open-database.ts";
import type { OperatorError } from "../../../src/platform/errors/operator-error.ts";
import { createLogger } from "../../../src/platform/observability/logger.ts";
import { createDataDirectory } from "../../harness/gateway-process.ts";
import { repositoryDir } from "../../harness/repository-files.ts";
import { createTestDatabase } from "../../harness/test-database.ts";
import { waitUntil } from "../../harness/wait-until.ts";

type FeedOptions = Partial<Omit<Parameters<typeof openChangeFeed>[0], "address" | "channels">>;

type RecordedFeed = AsyncDisposable & {
  feed: ChangeFeed;
  /** The events that the listener of "prices" received, in order. */
  events: string[];
  troubles: string[];
};

/** A feed on "prices" and "Keys", with a listener of "prices" that records its events. */
async function openRecordedFeed(address: DatabaseAddress, options: FeedOptions = {}): Promise<RecordedFeed> {
  const events: string[] = [];
  const troubles: string[] = [];
  const feed = await openChangeFeed({
    address,
    channels: ["prices", "Keys"],
    onTrouble: (error) => troubles.push(feed.isLive() ? `while live: ${error.message}` : error.message),
    reconnectMs: 10,
    // Keeps a slow machine from looking like a dead server, except where a test is about that.
    heartbeatTimeoutMs: 30_000,
    ...options,
  });
  feed.subscribe("prices", {
    onChange: (payload) => events.push(payload),
    onReset: () => events.push(feed.isLive() ? "reset while live" : "reset"),
  });
  return { feed, events, troubles, [Symbol.asyncDispose]: () => feed.close() };
}

type Observer = AsyncDisposable & {
  notify(payload: string, channel?: string): Promise<void>;
  findFeed(): Promise<{ pid: number; state: string; query: string } | null>;
  countFeeds(): Promise<number>;
  endFeed(): Promise<void>;
};

/** A second client that changes the same database and lists its connections. */
async function connectObserver(address: DatabaseAddress): Promise<Observer> {
  const client = new pg.Client(locate(address));
  await client.connect();
  const listFeeds = async () => {
    const { rows } = await client.query(
      `select pid, state, query from pg_stat_activity
        where application_name = 'sluice-change-feed' and datname = current_database()
        order by backend_start desc`,
    );
    return rows;
  };
  return {
    notify: async (payload, channel = "prices") => {
      await client.query("select pg_notify($1, $2)", [channel, payload]);
    },
    findFeed: async () => (await listFeeds())[0] ?? null,
    countFeeds: async () => (await listFeeds()).length,
    endFeed: async () => {
      await client.query(
        `select pg_terminate_backend(pid, 20000) from pg_stat_activity
          where application_name = 'sluice-change-feed' and datname = current_database()`,
      );
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}

async function waitForLive(feed: ChangeFeed): Promise<void> {
  await waitUntil("the feed is live", () => feed.isLive());
}

/** Sends a change and waits until it is received: everything before it has been received then. */
async function waitForChange(recorded: RecordedFeed, observer: Observer, payload: string): Promise<void> {
  await observer.notify(payload);
  await waitUntil(`the change ${payload}`, () => recorded.events.includes(payload));
}

const alert = { heartbeatTimeoutMs: 500 };

/** Blocks this process, including timers and sockets. */
function standStill(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

describe("on a database that works", () => {
  let testDatabase: Awaited<ReturnType<typeof createTestDatabase>>;
  let address: DatabaseAddress;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    address = { connectionString: testDatabase.url };
  });
  afterAll(() => testDatabase.close());

  test("every heartbeat reads the database's time", async () => {
    const readings: TimeReading[] = [];
    await using _feed = await openRecordedFeed(address, {
      heartbeatMs: 1,
      onTime: (reading) => void readings.push(reading),
    });
    await waitUntil("some readings", () => readings.length >= 3);
    for (const { serverMs, askedMs, answeredMs } of readings) {
      // The server is on this machine.
      const [least, most] = [askedMs, answeredMs].map((ms) => performance.timeOrigin + ms);
      expect(serverMs).toBeGreaterThan((least ?? 0) - 1000);
      expect(serverMs).toBeLessThan((most ?? 0) + 1000);
    }
  });

  test("every change is received in order, by the listeners of its channel only", async () => {
    await using observer = await connectObserver(address);
    await using recorded = await openRecordedFeed(address);
    const keys: string[] = [];
    const pricesToo: string[] = [];
    recorded.feed.subscribe("Keys", { onChange: (payload) => keys.push(payload), onReset: () => {} });
    recorded.feed.subscribe("prices", { onChange: (payload) => pricesToo.push(payload), onReset: () => {} });
    expect(recorded.feed.isLive()).toBe(true);
    for (const payload of ["1", "2", ""]) {
      await observer.notify(payload);
      await observer.notify(`key ${payload}`, "Keys");
      await observer.notify("unheard", "keys");
    }
    await waitForChange(recorded, observer, "last");
    expect(recorded.events).toEqual(["1", "2", "", "last"]);
    expect(pricesToo).toEqual(recorded.events);
    expect(keys).toEqual(["key 1", "key 2", "key "]);
    expect(recorded.troubles).toEqual([]);
  });

  test("a channel that the feed was not opened for is refused", async () => {
    await using recorded = await openRecordedFeed(address);
    const subscribe = () => recorded.feed.subscribe("keys", { onChange: () => {}, onReset: () => {} });
    expect(subscribe).toThrow("does not listen on keys");
  });

  test("a terminated connection makes the feed not live, then resets it, and changes are received again", async () => {
    await using observer = await connectObserver(address);
    // No heartbeat helps here.
    await using recorded = await openRecordedFeed(address, { heartbeatMs: 3_600_000 });
    await observer.endFeed();
    await waitUntil("the reset", () => recorded.events.includes("reset"));
    await waitForLive(recorded.feed);
    await waitForChange(recorded, observer, "after");
    expect(recorded.events).toEqual(["reset", "after"]);
    expect(recorded.troubles).toEqual(["terminating connection due to administrator command"]);
  });

  test("a listener that throws is reported and reset, and affects neither the feed nor other listeners", async () => {
    await using observer = await connectObserver(address);
    const troubles: string[] = [];
    await using feedCloser = new AsyncDisposableStack();
    const onTrouble = (error: Error) => troubles.push(error.message);
    const pace = { heartbeatMs: 3_600_000, reconnectMs: 10 };
    const feed = await openChangeFeed({ address, channels: ["prices"], onTrouble, ...pace });
    feedCloser.defer(() => feed.close());
    const heard: string[] = [];
    let throwingResets = 0;
    feed.subscribe("prices", {
      onChange: () => {
        throw new Error("bad change");
      },
      onReset: () => {
        throwingResets += 1;
        throw "bad reset";
      },
    });
    feed.subscribe("prices", { onChange: (payload) => heard.push(payload), onReset: () => heard.push("reset") });
    await observer.notify("1");
    await waitUntil("the change", () => heard.includes("1"));
    expect(troubles).toEqual(["bad change", "bad reset"]);
    expect(throwingResets).toBe(1);
    expect(feed.isLive()).toBe(true);
    await observer.endFeed();
    await waitUntil("the reset", () => heard.includes("reset"));
    await waitForLive(feed);
    await observer.notify("2");
    await waitUntil("the next change", () => heard.includes("2"));
    expect(heard).toEqual(["1", "reset", "2"]);
    expect(troubles.slice(2)).toEqual([
      "terminating connection due to administrator command",
      "bad reset",
      "bad change",
      "bad reset",
    ]);
  });

  test("a process that was suspended is not live until it has received the missed changes", async () => {
    await using observer = await connectObserver(address);
    await using recorded = await openRecordedFeed(address, { heartbeatMs: 20, heartbeatTimeoutMs: 200 });
    await waitForLive(recorded.feed);
    // The statement is sent before the process blocks, so the change is committed meanwhile.
    const notified = observer.notify("slept through");
    standStill(300);
    expect(recorded.feed.isLive()).toBe(false);
    expect(recorded.events).toEqual([]);
    await waitUntil("a live feed", () => {
      if (!recorded.feed.isLive()) return false;
      expect(recorded.events.length).toBeGreaterThan(0);
      return true;
    });
    await notified;
  });

  test("a feed that cannot connect at first throws, and leaves nothing behind", async () => {
    const wrong = new URL(testDatabase.url);
    wrong.pathname = "/nowhere";
    await expect(openRecordedFeed({ connectionString: wrong.href })).rejects.toMatchObject({ code: "3D000" });
  });

  test("a closed feed is not live, calls no listener, has disconnected, and may be closed again", async () => {
    await using observer = await connectObserver(address);
    const recorded = await openRecordedFeed(address, { heartbeatMs: 1 });
    const closing = recorded.feed.close();
    expect(recorded.feed.isLive()).toBe(false);
    await Promise.all([observer.notify("too late"), closing]);
    expect(await observer.countFeeds()).toBe(0);
    await recorded.feed.close();
    expect([recorded.events, recorded.troubles]).toEqual([[], []]);
  });

  test("a listener that closes the feed during a reset is not called again", async () => {
    await using observer = await connectObserver(address);
    await using recorded = await openRecordedFeed(address);
    let closed: Promise<void> | undefined;
    const onReset = () => {
      closed = recorded.feed.close();
    };
    recorded.feed.subscribe("Keys", { onChange: () => {}, onReset });
    await observer.endFeed();
    await waitUntil("the reset", () => closed !== undefined);
    await closed;
    expect(recorded.feed.isLive()).toBe(false);
    expect(await observer.countFeeds()).toBe(0);
  });
});

type Wire = AsyncDisposable & {
  address: DatabaseAddress;
  /** How many connections were made, and how many are open now. */
  count: { made: number; open: number };
  /** How often the client has sent this. */
  countSaid(word: string): number;
  /** Which directions pass; data in the others is buffered. */
  pass(what: { toServer: boolean; toClient: boolean }): void;
  /** Whether the data buffered for the client contains this. */
  isKept(word: string): boolean;
  /** Called when the client sends this, before it passes. */
  onSaid(word: string, act: () => void): void;
  cut(): void;
};

const everything = { toServer: true, toClient: true };
const nothing = { toServer: false, toClient: false };

/** A proxy between a feed and its server: it can stall without closing, and stall or break at a chosen message. */
async function startWire(server: { host: string; user: string; password: string; database: string }): Promise<Wire> {
  const count = { made: 0, open: 0 };
  const links = new Set<{ client: Socket; toClient: string[]; flush(): void }>();
  let said = "";
  let passing = everything;
  let trap: { word: string; act(): void } | null = null;

  // Half open, so that a FIN is answered only if it passes.
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = openSocket(`${server.host}/.s.PGSQL.5432`);
    const toServer: string[] = [];
    const toClient: string[] = [];
    let isOpen = true;
    let hasServerLeft = false;
    const flush = (): void => {
      // In one piece, so that the other side reads all of it at once.
      if (passing.toServer) upstream.write(toServer.splice(0).join(""), "latin1");
      if (passing.toServer && !isOpen) upstream.end();
      if (passing.toClient) client.write(toClient.splice(0).join(""), "latin1");
      if (passing.toClient && hasServerLeft) client.end();
    };
    const link = { client, toClient, flush };
    links.add(link);
    count.made += 1;
    count.open += 1;
    const noteEnd = (): void => {
      if (isOpen) count.open -= 1;
      isOpen = false;
      flush();
    };
    client.setEncoding("latin1").on("data", (piece: string) => {
      said += piece;
      toServer.push(piece);
      if (trap !== null && piece.includes(trap.word)) trap.act();
      flush();
    });
    upstream.setEncoding("latin1").on("data", (piece: string) => {
      toClient.push(piece);
      flush();
    });
    client.on("error", () => {}).on("end", noteEnd);
    client.on("close", () => {
      noteEnd();
      links.delete(link);
      upstream.destroy();
    });
    upstream
      .on("error", () => {})
      .on("close", () => {
        hasServerLeft = true;
        flush();
      });
  });
  await new Promise<void>((listening) => listener.listen(0, "127.0.0.1", listening));
  const bound = listener.address();
  if (bound === null || typeof bound === "string") throw new Error("The wire has no port.");

  const cut = (): void => {
    for (const { client } of links) client.destroy();
  };
  const { user, password, database } = server;
  return {
    address: { connectionString: `postgres://${user}:${password}@127.0.0.1:${bound.port}/${database}` },
    count,
    countSaid: (word) => said.split(word).length - 1,
    pass(what) {
      passing = what;
      for (const link of links) link.flush();
    },
    isKept: (word) => [...links].some(({ toClient }) => toClient.join("").includes(word)),
    onSaid(word, act) {
      trap = { word, act };
    },
    cut,
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((closed) => listener.close(closed));
    },
  };
}

describe("on a server that fails", () => {
  let data: ReturnType<typeof createDataDirectory>;
  let server: OpenDatabase;
  beforeAll(async () => {
    data = createDataDirectory();
    server = await openServer();
  });
  afterAll(async () => {
    await server.close();
    data[Symbol.dispose]();
  });

  function openServer(): Promise<OpenDatabase> {
    return openDatabase({
      url: undefined,
      dataDir: data.path,
      purpose: "gateway",
      connectionsMax: 2,
      onProgress: () => {},
      onConnectionError: () => {},
      onLost: (error) => console.error(error),
    });
  }

  function startServerWire(): Promise<Wire> {
    if (!("host" in server.address)) throw new Error("The server has no socket.");
    return startWire(server.address);
  }

  /** Suspends processes with SIGSTOP until disposed. */
  function freeze(...processIds: readonly number[]): Disposable {
    for (const processId of processIds) process.kill(processId, "SIGSTOP");
    return {
      [Symbol.dispose]() {
        for (const processId of processIds) process.kill(processId, "SIGCONT");
      },
    };
  }

  function getPostmasterId(): number {
    const postmaster = findPostmaster(join(data.path, "postgres"));
    if (postmaster === null) throw new Error("The server does not run.");
    return postmaster.processId;
  }

  test("a frozen backend makes the feed not live, and another one replaces it", async () => {
    await using observer = await connectObserver(server.address);
    await using recorded = await openRecordedFeed(server.address, alert);
    {
      using _frozen = freeze((await observer.findFeed())?.pid ?? 0);
      await waitUntil("the reset", () => recorded.events.includes("reset"));
      await waitForLive(recorded.feed);
      await waitForChange(recorded, observer, "after");
    }
    expect(new Set(recorded.events)).toEqual(new Set(["reset", "after"]));
    expect(recorded.troubles[0]).toBe("The database did not answer within 500 ms.");
    await waitUntil("the abandoned backend has gone", async () => (await observer.countFeeds()) === 1);
  });

  test("a frozen server makes the feed not live until it resumes; missed changes are followed by a reset", async () => {
    await using observer = await connectObserver(server.address);
    await using recorded = await openRecordedFeed(server.address, alert);
    {
      using _frozen = freeze((await observer.findFeed())?.pid ?? 0, getPostmasterId());
      await observer.notify("missed");
      await waitUntil("the outage is noticed", () => recorded.troubles.length > 0);
      expect([recorded.feed.isLive(), recorded.events]).toEqual([false, []]);
    }
    await waitForLive(recorded.feed);
    await waitForChange(recorded, observer, "after");
    expect(new Set(recorded.events)).toEqual(new Set(["reset", "after"]));
  });

  test("the feed reconnects after a server restart, and reports each error once", async () => {
    await using recorded = await openRecordedFeed(server.address);
    await server.close();
    await waitUntil("a try in vain", () => recorded.troubles.some((trouble) => trouble.includes("ENOENT")));
    expect([recorded.feed.isLive(), recorded.events]).toEqual([false, []]);
    server = await openServer();
    await waitForLive(recorded.feed);
    await using observer = await connectObserver(server.address);
    await waitForChange(recorded, observer, "after");
    expect(recorded.events).toEqual(["reset", "after"]);
    expect(new Set(recorded.troubles).size).toBe(recorded.troubles.length);
  });

  test("the feed notices a killed server, and reconnects once it is back", async () => {
    await using recorded = await openRecordedFeed(server.address);
    const killedId = getPostmasterId();
    process.kill(killedId, "SIGKILL");
    await waitUntil("the reset", () => recorded.events.includes("reset"));
    await waitForLive(recorded.feed);
    expect(getPostmasterId()).not.toBe(killedId);
    await using observer = await connectObserver(server.address);
    await waitForChange(recorded, observer, "after");
    expect(recorded.events).toEqual(["reset", "after"]);
  });

  test("the feed notices a silent network, and connection attempts do not pile up", async () => {
    await using wire = await startServerWire();
    await using observer = await connectObserver(server.address);
    await using undisturbed = await openRecordedFeed(server.address);
    await using recorded = await openRecordedFeed(wire.address, { ...alert, reconnectMs: 1 });
    wire.pass(nothing);
    await observer.notify("missed");
    await waitUntil("the second try", () => wire.count.made === 3);
    await waitUntil("the end of the first", () => wire.count.open === 1);
    expect([recorded.feed.isLive(), recorded.events]).toEqual([false, []]);
    expect(recorded.troubles).toEqual([
      "The database did not answer within 500 ms.",
      "The database did not accept a connection within 4000 ms.",
    ]);
    // The time limit is for connecting: an established feed keeps its connection.
    expect([undisturbed.events, undisturbed.troubles]).toEqual([["missed"], []]);
    wire.pass(everything);
    await waitForLive(recorded.feed);
    await waitForChange(recorded, observer, "after");
    expect(new Set(recorded.events)).toEqual(new Set(["reset", "after"]));
  });

  test("listeners are reset only after LISTEN is active, and changes from then on are received", async () => {
    await using wire = await startServerWire();
    await using observer = await connectObserver(server.address);
    await using recorded = await openRecordedFeed(wire.address);
    wire.onSaid("listen", () => wire.pass({ toServer: false, toClient: true }));
    await observer.endFeed();
    await waitUntil("the new connection asks", () => wire.countSaid("listen") === 4);
    await observer.notify("before");
    expect([recorded.feed.isLive(), recorded.events]).toEqual([false, []]);

    wire.pass({ toServer: true, toClient: false });
    await waitUntil("the server listens", async () => {
      const feed = await observer.findFeed();
      return feed?.state === "idle" && feed.query.startsWith("listen");
    });
    await observer.notify("right behind");
    await waitUntil("the server has told it", () => wire.isKept("right behind"));
    expect([recorded.feed.isLive(), recorded.events]).toEqual([false, []]);

    wire.pass(everything);
    await waitForLive(recorded.feed);
    await waitForChange(recorded, observer, "after");
    expect(recorded.events.toSorted()).toEqual(["after", "reset", "right behind"]);
  });

  test("a slow heartbeat is waited for, not overlapped", async () => {
    await using slowWire = await startServerWire();
    await using wire = await startServerWire();
    await using observer = await connectObserver(server.address);
    const pace = { heartbeatMs: 5 };
    await using slow = await openRecordedFeed(slowWire.address, pace);
    slowWire.onSaid(serverTimeQuery, () => slowWire.pass({ toServer: true, toClient: false }));
    await waitUntil("a question without an answer", () => slowWire.isKept("SELECT 1"));
    const askedBefore = slowWire.countSaid(serverTimeQuery);
    // Another feed at the same pace shows that there was time for more.
    await using _other = await openRecordedFeed(wire.address, pace);
    await waitUntil("many heartbeats", () => wire.countSaid(serverTimeQuery) > 20);
    expect(slowWire.countSaid(serverTimeQuery)).toBe(askedBefore);
    slowWire.onSaid(serverTimeQuery, () => {});
    slowWire.pass(everything);
    await waitForChange(slow, observer, "after");
    await waitUntil("the next heartbeats", () => slowWire.countSaid(serverTimeQuery) > askedBefore + 1);
    expect([slow.events, slow.troubles]).toEqual([["after"], []]);
  });

  test("a connection that is terminated right when it becomes ready was never live", async () => {
    await using wire = await startServerWire();
    await using observer = await connectObserver(server.address);
    await using recorded = await openRecordedFeed(wire.address, { heartbeatMs: 3_600_000 });
    wire.onSaid("listen", () => wire.pass({ toServer: true, toClient: false }));
    await observer.endFeed();
    await waitUntil("the server listens", () => wire.isKept("LISTEN"));
    await observer.endFeed();
    await waitUntil("the server's last words", () => wire.isKept("FATAL"));
    wire.onSaid("listen", () => {});
    wire.pass(everything);
    await waitForLive(recorded.feed);
    await waitForChange(recorded, observer, "after");
    expect(recorded.events).toEqual(["reset", "after"]);
  });

  test("a process that was suspended while an answer arrived keeps its connection", async () => {
    await using wire = await startServerWire();
    await using observer = await connectObserver(server.address);
    await using recorded = await openRecordedFeed(wire.address, { heartbeatMs: 20, heartbeatTimeoutMs: 1500 });
    wire.onSaid(serverTimeQuery, () => wire.pass({ toServer: true, toClient: false }));
    await waitUntil("a question without an answer", () => wire.isKept("SELECT 1"));
    wire.onSaid(serverTimeQuery, () => {});
    // In an immediate, because timers come next then, before any socket is read.
    await new Promise<void>((done) => {
      setImmediate(() => {
        wire.pass(everything);
        standStill(1600);
        done();
      });
    });
    expect(recorded.feed.isLive()).toBe(false);
    await waitForLive(recorded.feed);
    await waitForChange(recorded, observer, "after");
    expect([recorded.events, recorded.troubles]).toEqual([["after"], []]);
  });

  test.each(["SCRAM", "listen"])("a connection that dies at %s, during setup, is retried", async (word) => {
    await using wire = await startServerWire();
    await using observer = await connectObserver(server.address);
    await using recorded = await openRecordedFeed(wire.address);
    wire.onSaid(word, wire.cut);
    await observer.endFeed();
    await waitUntil("two tries in vain", () => wire.count.made > 3);
    expect([recorded.feed.isLive(), recorded.events]).toEqual([false, []]);
    wire.onSaid(word, () => {});
    await waitForLive(recorded.feed);
    await waitForChange(recorded, observer, "after");
    expect(recorded.events).toEqual(["reset", "after"]);
  });

  describe("a feed can be closed", () => {
    test.each([
      ["before the silence is noticed", 1, 10],
      ["while it waits for its next try", 1, 3_600_000],
      ["while a try hangs", 2, 10],
    ])("when the network is silent, %s", async (_name, connectionCount, reconnectMs) => {
      await using wire = await startServerWire();
      const recorded = await openRecordedFeed(wire.address, { ...alert, reconnectMs });
      wire.pass(nothing);
      if (reconnectMs > 1000) await waitUntil("the outage is noticed", () => recorded.troubles.length > 0);
      await waitUntil("the connections", () => wire.count.made === connectionCount);
      const troublesBefore = recorded.troubles.length;
      await recorded.feed.close();
      await waitUntil("every connection has ended", () => wire.count.open === 0);
      expect(wire.count.made).toBe(connectionCount);
      expect([recorded.feed.isLive(), recorded.events]).toEqual([false, []]);
      expect(recorded.troubles.length).toBe(troublesBefore);
    });

    test("before the server has confirmed LISTEN", async () => {
      await using wire = await startServerWire();
      await using observer = await connectObserver(server.address);
      const recorded = await openRecordedFeed(wire.address);
      wire.onSaid("listen", () => wire.pass(nothing));
      await observer.endFeed();
      await waitUntil("the new connection asks", () => wire.countSaid("listen") === 4);
      await recorded.feed.close();
      await waitUntil("every connection has ended", () => wire.count.open === 0);
      wire.pass(everything);
      await waitUntil("the server knows", async () => (await observer.countFeeds()) === 0);
      expect(recorded.events).toEqual([]);
    });

    test("during a heartbeat, and Terminate is sent to the server", async () => {
      await using wire = await startServerWire();
      await using observer = await connectObserver(server.address);
      const recorded = await openRecordedFeed(wire.address, { heartbeatMs: 5 });
      wire.onSaid(serverTimeQuery, () => wire.pass({ toServer: true, toClient: false }));
      await waitUntil("a question without an answer", () => wire.isKept("SELECT 1"));
      const closing = recorded.feed.close();
      wire.pass(everything);
      await closing;
      expect(await observer.countFeeds()).toBe(0);
      expect(wire.countSaid("X\0\0\0\u0004")).toBe(1);
    });

    test("when the server is frozen, and its process exits", async () => {
      await using observer = await connectObserver(server.address);
      await using child = spawnFeed(
        server.address,
        `const onTrouble = async (error) => {
          console.log(error.message);
          await feed.close();
          console.log("closed");
        };
        const feed = await openChangeFeed({ address, channels: [], onTrouble });`,
      );
      const { pid } = await waitUntil("the child's feed", async () => {
        const feed = await observer.findFeed();
        return feed?.query === serverTimeQuery ? feed : null;
      });
      {
        using _frozen = freeze(pid, getPostmasterId());
        expect(await child.output).toBe("The database did not answer within 500 ms.\nclosed\n");
        expect(await child.exited).toBe(0);
      }
      await waitUntil("the server knows", async () => (await observer.countFeeds()) === 0);
    });

    test("when all is well, and its process exits", async () => {
      await using child = spawnFeed(
        server.address,
        `const feed = await openChangeFeed({ address, channels: [], onTrouble: console.log, heartbeatMs: 3_600_000 });
        await feed.close();
        console.log("closed");`,
      );
      expect(await child.output).toBe("closed\n");
      expect(await child.exited).toBe(0);
    });
  });
});

/** A process with nothing but a feed to keep it alive. */
function spawnFeed(address: DatabaseAddress, script: string) {
  const file = join(repositoryDir, "src/platform/database/change-feed.ts");
  const setting = `import { openChangeFeed } from ${JSON.stringify(file)}; const address = ${JSON.stringify(address)};`;
  const words = ["--input-type=module", "-e", `${setting} ${script}`];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = new Promise<number | null>((settle) => child.once("exit", settle));
  return {
    output: text(child.stdout),
    exited,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

test("a gateway that would count limits or store files separately from another on its database is refused", async () => {
  const place = await createTestDatabase();
  const address = toDatabaseAddress(place.url);
  const database = createDatabase({ address, connectionsMax: 2, onConnectionError: () => {} });
  const other: NodeFacts = { storage: "here", counts: "redis", group: "one" };
  const feed = await openRecordedFeed(address, { sessionName: presentNodeName(other) });
  // A node that was cut off leaves only its session; nothing is received from it.
  const left = new pg.Client({ ...locate(address), application_name: presentNodeName({ ...other, storage: "gone" }) });
  await left.connect();
  await left.query("listen callers");
  const warnings: string[] = [];
  const logger = createLogger({ level: "warn", format: "json", write: (line) => warnings.push(line) });
  const start = async (own: Partial<NodeFacts>, more: Partial<Settings> = {}): Promise<string> => {
    const settings = { unshared_nodes: "refuse", data_dir: "/data", ...more } as const;
    const facts = { ...other, group: "two", ...own };
    return await requireSharedNodes({ database, settings, logger }, facts).then(
      () => "starts",
      ({ message, remedy }: OperatorError) => `${message} ${remedy}`,
    );
  };
  const none = "To run without sharing, set unshared_nodes to allow (docs/operating/scaling.md).";
  const bucket = "set s3_bucket to the same bucket on all of them, or share the files folder";
  const redis = "set redis_url to the same Redis on all of them";
  const folder = "files in /data would not be shared";
  const begin = "Another gateway uses this database, and";
  expect(
    await Promise.all([
      start({}),
      start({ storage: "elsewhere", counts: "memory", group: "one" }),
      start({ storage: "elsewhere" }),
      start({ counts: "memory" }),
      start({ storage: "elsewhere", counts: "memory" }),
      start({ storage: "elsewhere" }, { unshared_nodes: "allow" }),
    ]),
  ).toEqual([
    "starts",
    "starts",
    `${begin} ${folder}. Stop the other one, or ${bucket}. ${none}`,
    `${begin} rate limits would not be shared. Stop the other one, or ${redis}. ${none}`,
    `${begin} rate limits would not be shared, and ${folder}. Stop the other one, or ${redis}, and ${bucket}. ${none}`,
    "starts",
  ]);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain(folder);
  await left.end();
  await feed[Symbol.asyncDispose]();
  await database.destroy();
  await place.close();
});
