import { randomBytes } from "node:crypto";

type Fields = Record<string, unknown>;

/** How the bank answers the charges of a card. */
type StripeCardMood = "good" | "declined" | "authentication" | "slow";

type StripeCard = { id: string; customer: string | null; mood: StripeCardMood };

/** A payment intent of a saved card, or of the checkout that saved it. */
type StripeCharge = Fields & { id: string; amount: number; status: string; metadata: Record<string, string> };

type Answer = { status: number; body: unknown };

export type StripeCards = {
  /** The charges of saved cards, oldest first. */
  charges: StripeCharge[];
  /** The newest card that a checkout saved. */
  newest(): StripeCard;
  /** Saves the card of a checkout's payment. */
  save(paymentId: string, session: Fields & { metadata: Record<string, string> }): void;
  charge(form: Map<string, string>): Answer;
  detach(cardId: string): Answer;
  find(paymentId: string, isExpanded: boolean): Fields | null;
  list(customer: string | null): Fields[];
  /** Ends a slow charge. */
  settle(charge: StripeCharge): void;
};

/** Stripe's saved payment methods, and payment intents that are confirmed off session, in its own wire format. */
export function createStripeCards(nowSeconds: () => number): StripeCards {
  const cards: StripeCard[] = [];
  const payments: StripeCharge[] = [];
  const charges: StripeCharge[] = [];
  const createId = (prefix: string): string => `${prefix}_${randomBytes(12).toString("hex")}`;

  function present(card: StripeCard): Fields {
    const details = { brand: "visa", last4: "4242", exp_month: 12, exp_year: 2030 };
    return { id: card.id, object: "payment_method", type: "card", customer: card.customer, card: details };
  }

  return {
    charges,
    newest() {
      const card = cards.at(-1);
      if (card === undefined) throw new Error("No checkout has saved a card.");
      return card;
    },
    save(paymentId, { metadata, amount_total: amount, currency }) {
      const card: StripeCard = { id: createId("pm"), customer: createId("cus"), mood: "good" };
      cards.push(card);
      const facts = { amount: Number(amount), amount_received: Number(amount), currency, metadata };
      const common = { object: "payment_intent", status: "succeeded", created: nowSeconds(), last_payment_error: null };
      payments.push({ id: paymentId, ...common, ...facts, customer: card.customer, payment_method: card.id });
    },
    charge(form) {
      const card = cards.find(({ id }) => id === form.get("payment_method"));
      const amount = Number(form.get("amount"));
      const wrong = [
        ["amount", Number.isSafeInteger(amount) && amount > 0],
        ["currency", /^[a-z]{3}$/.test(form.get("currency") ?? "")],
        ["payment_method", card !== undefined && card.customer !== null && card.customer === form.get("customer")],
        ["off_session", form.get("off_session") === "true" && form.get("confirm") === "true"],
        ["return_url", form.get("automatic_payment_methods[allow_redirects]") === "never"],
        ["payment_method_types", !form.has("payment_method_types[0]")],
      ].find(([, isRight]) => isRight === false);
      if (wrong !== undefined || card === undefined) {
        const error = { type: "invalid_request_error", message: `Invalid ${wrong?.[0]}`, code: "resource_missing" };
        return { status: 400, body: { error } };
      }
      const declines = { declined: "insufficient_funds", authentication: "authentication_required" } as const;
      const decline = card.mood === "declined" || card.mood === "authentication" ? declines[card.mood] : null;
      const fault = {
        type: "card_error",
        code: decline === "authentication_required" ? decline : "card_declined",
        decline_code: decline,
        message: "Your card was declined.",
      };
      const isPaid = card.mood === "good";
      const charge: StripeCharge = {
        id: createId("pi"),
        object: "payment_intent",
        amount,
        amount_received: isPaid ? amount : 0,
        created: nowSeconds(),
        currency: form.get("currency"),
        customer: card.customer,
        payment_method: decline === null ? card.id : null,
        status: decline === null ? (isPaid ? "succeeded" : "processing") : "requires_payment_method",
        last_payment_error: decline === null ? null : fault,
        metadata: { account: form.get("metadata[account]") ?? "", checkout: form.get("metadata[checkout]") ?? "" },
      };
      payments.push(charge);
      charges.push(charge);
      if (decline === null) return { status: 200, body: charge };
      return { status: 402, body: { error: { ...fault, payment_intent: charge } } };
    },
    detach(cardId) {
      const card = cards.find(({ id }) => id === cardId);
      if (card === undefined || card.customer === null) {
        const message = "The payment method you provided is not attached to a customer so detachment is impossible.";
        return { status: 400, body: { error: { type: "invalid_request_error", message } } };
      }
      card.customer = null;
      return { status: 200, body: present(card) };
    },
    find(paymentId, isExpanded) {
      const payment = payments.find(({ id }) => id === paymentId);
      const card = cards.find(({ id }) => id === payment?.payment_method);
      if (payment === undefined) return null;
      return isExpanded && card !== undefined ? { ...payment, payment_method: present(card) } : payment;
    },
    list: (customer) => payments.filter((payment) => payment.customer === customer),
    settle(charge) {
      Object.assign(charge, { status: "succeeded", amount_received: charge.amount });
    },
  };
}
