import { createHmac, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { Clock } from "../../../src/lib/clock.ts";
import { createStripeCards, type StripeCards } from "./stripe-cards.ts";

type Fields = Record<string, unknown>;

/** A checkout session, with the Stripe fields that are used here. */
export type StripeSession = Fields & {
  id: string;
  url: string | null;
  amount_total: number;
  currency: string;
  status: "open" | "complete" | "expired";
  payment_status: "paid" | "unpaid";
  payment_intent: string | null;
  client_reference_id: string;
  metadata: Record<string, string>;
  expires_at: number;
};

/** A refund or a dispute of a payment, in Stripe's format; both emit events, and can be retrieved. */
type StripeRefund = Fields & { id: string; amount: number; status: string; payment_intent: string | null };
export type StripeDispute = StripeRefund;

/** The faults of the next requests, in order; `null` for a success. */
export type StripeFault = "error" | "garbage" | "hangs" | "hangs-up" | "nonsense" | null;

export type StripeServer = AsyncDisposable & {
  url: string;
  secretKey: string;
  webhookSecret: string;
  sessions: Map<string, StripeSession>;
  requests: { method: string; path: string; headers: IncomingMessage["headers"]; form: Map<string, string> }[];
  faults: StripeFault[];
  /** The session of a checkout. */
  find(checkoutId: string): StripeSession;
  /** Pays as the customer at the checkout page, by card or by a method that takes days. */
  pay(session: StripeSession, method?: "card" | "slow"): void;
  /** Ends a slow payment. */
  settle(session: StripeSession, end: "succeeded" | "failed"): void;
  expire(session: StripeSession): void;
  /** Refunds a payment, or disputes it; changing the status of the returned object changes it. */
  refund(session: StripeSession, amount: number, status?: string): StripeRefund;
  dispute(session: StripeSession, amount: number, status?: string): StripeDispute;
  /** Saved cards and their charges. */
  cards: StripeCards;
  /** Every event that was created, delivered or not. */
  events: Fields[];
  /** An event about an object's current state, or with some fields changed. */
  createEvent(type: string, object: Fields): Fields;
  /** What Stripe would post: the body, signed at this time. */
  sign(event: unknown, options?: { at?: Date; secret?: string }): { body: string; headers: Record<string, string> };
};

const apiVersion = "2026-09-30.endive";
const halfHourSeconds = 30 * 60;
const daySeconds = 24 * 60 * 60;
const stripeMethods = ["card", "alipay", "wechat_pay", "paypal", "link"];

/**
 * Stripe as far as Checkout goes, in its own wire format: forms in, JSON out, keys as bearer tokens, errors in its
 * shape, requests with an `Idempotency-Key` answered the same twice, events signed by HMAC over time and body.
 */
export async function startStripeServer({ clock }: { clock: Clock }): Promise<StripeServer> {
  const secretKey = `sk_test_${randomBytes(12).toString("hex")}`;
  const webhookSecret = `whsec_${randomBytes(24).toString("hex")}`;
  const sessions: StripeServer["sessions"] = new Map();
  const paymentStates = new Map<string, string>();
  const answers = new Map<string, { body: string; answer: Answer }>();
  const refunds: StripeRefund[] = [];
  const events: Fields[] = [];
  const cards = createStripeCards(() => nowSeconds());
  const requests: StripeServer["requests"] = [];
  const faults: StripeFault[] = [];
  const nowSeconds = (): number => Math.floor(clock.now().getTime() / 1000);

  function createSession(form: Map<string, string>): Answer {
    const amount = Number(form.get("line_items[0][price_data][unit_amount]"));
    const currency = form.get("line_items[0][price_data][currency]") ?? "";
    const expiresAt = Number(form.get("expires_at"));
    const listed = [...form].flatMap(([name, value]) =>
      name.startsWith("allowed_payment_method_types[") ? [value] : [],
    );
    const wrong = [
      ["mode", form.get("mode") === "payment"],
      ["success_url", form.get("success_url")?.startsWith("http") === true],
      ["line_items[0][quantity]", form.get("line_items[0][quantity]") === "1"],
      ["line_items[0][price_data][unit_amount]", Number.isSafeInteger(amount) && amount > 0],
      ["line_items[0][price_data][currency]", /^[a-z]{3}$/.test(currency)],
      ["line_items[0][price_data][product_data][name]", form.has("line_items[0][price_data][product_data][name]")],
      ["payment_method_types", !form.has("payment_method_types[0]")],
      ["allowed_payment_method_types", listed.every((method) => stripeMethods.includes(method))],
      [
        "payment_method_options[wechat_pay][client]",
        !listed.includes("wechat_pay") || form.get("payment_method_options[wechat_pay][client]") === "web",
      ],
      ["expires_at", expiresAt >= nowSeconds() + halfHourSeconds && expiresAt <= nowSeconds() + daySeconds],
    ].find(([, isRight]) => isRight === false);
    if (wrong !== undefined) return presentRefusal(400, `Invalid ${wrong[0]}`, { param: wrong[0] });
    const id = `cs_test_${randomBytes(12).toString("hex")}`;
    const session: StripeSession = {
      id,
      object: "checkout.session",
      amount_subtotal: amount,
      amount_total: amount,
      client_reference_id: form.get("client_reference_id") ?? "",
      created: nowSeconds(),
      currency,
      expires_at: expiresAt,
      livemode: false,
      setup_future_usage: form.get("payment_intent_data[setup_future_usage]") ?? null,
      metadata: { account: form.get("metadata[account]") ?? "", checkout: form.get("metadata[checkout]") ?? "" },
      mode: "payment",
      allowed_payment_method_types: listed,
      payment_intent: null,
      payment_status: "unpaid",
      status: "open",
      success_url: form.get("success_url"),
      cancel_url: form.get("cancel_url") ?? null,
      url: `https://checkout.stripe.com/c/pay/${id}`,
    };
    sessions.set(id, session);
    return { status: 200, body: session };
  }

  function getSession(path: string, query: URLSearchParams): Answer {
    const session = sessions.get(path.slice("/v1/checkout/sessions/".length));
    if (session === undefined) return presentRefusal(404, "No such checkout.session", { code: "resource_missing" });
    const paymentId = session.payment_intent;
    const isExpanded = query.get("expand[0]") === "payment_intent" && paymentId !== null;
    const payment = isExpanded
      ? { id: paymentId, object: "payment_intent", status: paymentStates.get(paymentId) }
      : paymentId;
    return { status: 200, body: { ...session, payment_intent: payment } };
  }

  function getPayment(path: string, query: URLSearchParams): Answer {
    const id = path.slice("/v1/payment_intents/".length);
    const charge = cards.find(id, query.get("expand[0]") === "payment_method");
    if (charge !== null) return { status: 200, body: charge };
    const session = [...sessions.values()].find(({ payment_intent }) => payment_intent === id);
    if (session === undefined) return presentRefusal(404, "No such payment_intent", { code: "resource_missing" });
    const { metadata } = session;
    return { status: 200, body: { id, object: "payment_intent", status: paymentStates.get(id), metadata } };
  }

  /** Newest first, paginated, like every Stripe list. */
  function listPage(path: string, all: readonly Fields[], query: URLSearchParams): Answer {
    const newest = all.toReversed();
    const after = newest.findIndex(({ id }) => id === query.get("starting_after"));
    const rest = newest.slice(after + 1);
    const data = rest.slice(0, Number(query.get("limit") ?? 10));
    return { status: 200, body: { object: "list", url: path, data, has_more: data.length < rest.length } };
  }

  function answerGet(path: string, query: URLSearchParams): Answer {
    if (path === "/v1/refunds") {
      const paymentId = query.get("payment_intent");
      return listPage(
        path,
        refunds.filter(({ payment_intent }) => payment_intent === paymentId),
        query,
      );
    }
    if (path === "/v1/payment_intents") return listPage(path, cards.list(query.get("customer")), query);
    if (path === "/v1/events") {
      const types = [...query].flatMap(([name, value]) => (name.startsWith("types") ? [value] : []));
      const since = Number(query.get("created[gte]"));
      const told = events.filter(({ type, created }) => types.includes(String(type)) && Number(created) >= since);
      return listPage(path, told, query);
    }
    return path.startsWith("/v1/payment_intents/") ? getPayment(path, query) : getSession(path, query);
  }

  function createReversal(
    session: StripeSession,
    fields: Pick<StripeRefund, "id" | "amount" | "status">,
  ): StripeRefund {
    const { payment_intent, currency } = session;
    return { ...fields, payment_intent, currency, created: nowSeconds(), metadata: {}, reason: "fraudulent" };
  }

  /** As the dashboard or the API would: to the card, up to what is left of the payment. */
  function createRefund(form: Map<string, string>): Answer {
    const paymentId = form.get("payment_intent") ?? "";
    const session = [...sessions.values()].find(({ payment_intent }) => payment_intent === paymentId);
    const amount = Number(form.get("amount"));
    if (session === undefined) return presentRefusal(404, "No such payment_intent", { code: "resource_missing" });
    const refunded = refunds
      .filter(({ payment_intent, status }) => payment_intent === paymentId && status !== "failed")
      .reduce((sum, refund) => sum + refund.amount, 0);
    if (!Number.isSafeInteger(amount) || amount <= 0)
      return presentRefusal(400, "Invalid integer", { param: "amount" });
    if (refunded + amount > session.amount_total) {
      return presentRefusal(400, "Refund amount is greater than unrefunded amount on charge", { param: "amount" });
    }
    const fields = { id: `re_${randomBytes(12).toString("hex")}`, amount, status: "succeeded" };
    const reason = form.get("reason") ?? null;
    const refund = { ...createReversal(session, fields), reason, object: "refund" };
    refunds.push(refund);
    return { status: 200, body: refund };
  }

  function findCreate(path: string): ((form: Map<string, string>) => Answer) | null {
    if (path === "/v1/checkout/sessions") return createSession;
    if (path === "/v1/payment_intents") return cards.charge;
    if (path === "/v1/refunds") return createRefund;
    const [, cardId] = /^\/v1\/payment_methods\/(\w+)\/detach$/.exec(path) ?? [];
    return cardId === undefined ? null : () => cards.detach(cardId);
  }

  function answerRequest(request: IncomingMessage, body: string): Answer {
    const { pathname: path, searchParams } = new URL(request.url ?? "", "http://stripe");
    const form = new Map(new URLSearchParams(body));
    const { headers, method = "" } = request;
    requests.push({ method, path, headers, form });
    if (headers.authorization !== `Bearer ${secretKey}`) return presentRefusal(401, "Invalid API Key provided");
    if (headers["stripe-version"] !== apiVersion) return presentRefusal(400, "Invalid Stripe API version");
    if (method === "GET") return answerGet(path, searchParams);
    const create = method === "POST" ? findCreate(path) : null;
    if (create === null) return presentRefusal(404, "Unrecognized request URL");
    if (headers["content-type"] !== "application/x-www-form-urlencoded") return presentRefusal(400, "Invalid form");
    const key = String(headers["idempotency-key"]);
    const known = answers.get(key);
    if (known === undefined) {
      const answer = create(form);
      answers.set(key, { body, answer });
      return answer;
    }
    if (known.body === body) return known.answer;
    return presentRefusal(400, "Keys for idempotent requests can only be used with the same parameters", {
      type: "idempotency_error",
    });
  }

  const server = createServer(async (request, response) => {
    const body = await text(request);
    const fault = faults.shift() ?? null;
    // Even if the answer fails, the request may have been processed.
    const answer =
      fault === "error" ? presentRefusal(500, "Something broke", { type: "api_error" }) : answerRequest(request, body);
    send(request, response, { fault, answer });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");

  return {
    url: `http://127.0.0.1:${address.port}`,
    secretKey,
    webhookSecret,
    sessions,
    requests,
    faults,
    find(checkoutId) {
      const session = [...sessions.values()].find(({ metadata }) => metadata.checkout === checkoutId);
      if (session === undefined) throw new Error(`There is no session of ${checkoutId}.`);
      return session;
    },
    pay(session, method = "card") {
      const paymentId = `pi_${randomBytes(12).toString("hex")}`;
      const isPaid = method === "card";
      if (session.setup_future_usage === "off_session") cards.save(paymentId, session);
      paymentStates.set(paymentId, isPaid ? "succeeded" : "processing");
      const payment_status = isPaid ? "paid" : "unpaid";
      Object.assign(session, { status: "complete", payment_status, payment_intent: paymentId, url: null });
    },
    settle(session, end) {
      paymentStates.set(session.payment_intent ?? "", end === "succeeded" ? "succeeded" : "requires_payment_method");
      if (end === "succeeded") session.payment_status = "paid";
    },
    expire(session) {
      Object.assign(session, { status: "expired", url: null });
    },
    refund(session, amount, status = "succeeded") {
      const id = `re_${randomBytes(12).toString("hex")}`;
      const refund = { ...createReversal(session, { id, amount, status }), object: "refund" };
      refunds.push(refund);
      return refund;
    },
    dispute(session, amount, status = "needs_response") {
      const id = `dp_${randomBytes(12).toString("hex")}`;
      return { ...createReversal(session, { id, amount, status }), object: "dispute" };
    },
    cards,
    events,
    createEvent(type, object) {
      const event = describeEvent(type, object, nowSeconds());
      events.push(event);
      return event;
    },
    sign(event, { at = clock.now(), secret = webhookSecret } = {}) {
      const body = JSON.stringify(event, null, 2);
      const seconds = Math.floor(at.getTime() / 1000);
      const signature = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
      return {
        body,
        headers: {
          "content-type": "application/json; charset=utf-8",
          "stripe-signature": `t=${seconds},v1=${signature},v0=${"0".repeat(64)}`,
        },
      };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function describeEvent(type: string, object: Fields, created: number): Fields {
  return {
    id: `evt_${randomBytes(12).toString("hex")}`,
    object: "event",
    api_version: apiVersion,
    created,
    data: { object: structuredClone(object) },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
  };
}

type Answer = { status: number; body: unknown };

function presentRefusal(status: number, message: string, fields: Fields = {}): Answer {
  return { status, body: { error: { type: "invalid_request_error", message, ...fields } } };
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { fault, answer }: { fault: StripeFault; answer: Answer },
): void {
  if (fault === "hangs") return;
  if (fault === "hangs-up") {
    request.socket.destroy();
    return;
  }
  const headers = { "content-type": "application/json", "request-id": `req_${randomBytes(6).toString("hex")}` };
  response.writeHead(answer.status, headers);
  if (fault === "garbage") response.end("<html>not JSON");
  else
    response.end(JSON.stringify(fault === "nonsense" ? { id: "cs_test_x", url: "javascript:alert(1)" } : answer.body));
}
