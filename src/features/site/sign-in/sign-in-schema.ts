import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { type TProperties, Type } from "typebox";
import { operatorRoles } from "../../../lib/operator-role.ts";

export function body<const P extends TProperties>(fields: P) {
  return Type.Object(fields, { additionalProperties: false });
}

export const emailField = Type.String({ minLength: 1, maxLength: 254 });
/** Bounds the hashing work. */
export const passwordField = Type.String({ minLength: 1, maxLength: 256 });
export const newPasswordField = Type.String({
  maxLength: 256,
  description: "8 to 256 characters. Common passwords are rejected.",
});
export const codeField = Type.String({ minLength: 1, maxLength: 40 });
export const tokenField = Type.String({ minLength: 1, maxLength: 200, description: "From the link in the e-mail." });

export const moment = Type.String({ format: "date-time" });

/** The next step of a sign-in. */
export const signedInSchema = Type.Object({ kind: Type.Literal("signed-in") });
export const verifyEmailSchema = Type.Object({ kind: Type.Literal("verify-email") });
const secondFactorSchema = Type.Object({
  kind: Type.Literal("second-factor"),
  methods: Type.Array(Type.Enum(["totp", "backup-code"])),
});
export const signInOutcomeSchema = Type.Union([signedInSchema, secondFactorSchema, verifyEmailSchema]);
export const acceptedSchema = Type.Object({ kind: Type.Literal("accepted") });

export const siteSchema = Type.Object({
  sign_up: Type.Enum(["open", "invite", "closed"]),
  providers: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
  mail: Type.Enum(["smtp", "outbox"]),
  has_outbox: Type.Boolean({ description: "Whether unsent mails can be read at `GET /outbox`." }),
  currency: Type.String(),
  base_url: Type.String({ description: "The API's base URL." }),
  payments: Type.Enum(["stripe", "none"], { description: "The provider of card payments." }),
  payment_amount_min: Type.String({ description: "Minimum amount of a payment." }),
  payment_amount_max: Type.String({ description: "Maximum amount of a payment." }),
  payment_amounts: Type.Array(Type.String(), { description: "Amounts to offer." }),
  has_auto_top_up: Type.Boolean({ description: "Whether a saved card can be charged automatically." }),
  content_log_days: Type.Integer({
    minimum: 0,
    description: "Retention of logged request contents in days; 0 if the content log is disabled.",
  }),
  support_contact: Type.Union([Type.String(), Type.Null()], {
    description: "Contact for credit and support: an e-mail address or a URL.",
  }),
});

export const sessionSchema = Type.Object({
  user: Type.Object({
    id: Type.String(),
    email: Type.String(),
    name: Type.Union([Type.String(), Type.Null()]),
    is_email_verified: Type.Boolean(),
    has_password: Type.Boolean(),
    has_totp: Type.Boolean(),
    passkey_count: Type.Integer(),
  }),
  account: Type.Object({
    id: Type.String(),
    time_zone: Type.String({ description: "Days begin and end in this time zone." }),
  }),
  operator: Type.Union(
    [
      Type.Object({
        role: Type.Enum([...operatorRoles]),
        has_second_factor: Type.Boolean({ description: "Whether the user has an authenticator app or a passkey." }),
      }),
      Type.Null(),
    ],
    { description: "The user's rights on the operator side; `null` for customers." },
  ),
  view: Type.Union([Type.Object({ id: Type.String(), ends_at: moment }), Type.Null()], {
    description: "An operator's read-only view of the account; `null` for the account's own people.",
  }),
  session: Type.Object({ id: Type.String(), created_at: moment, fresh_until: moment }),
});

export const freshSchema = Type.Object({ fresh_until: moment });

export const sessionListSchema = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.String(),
      is_current: Type.Boolean(),
      created_at: moment,
      last_seen_at: moment,
      user_agent: Type.String(),
      address: Type.String(),
    }),
  ),
});

export const totpOfferSchema = Type.Object({
  secret: Type.String({ description: "In base32, for apps that cannot scan the QR code." }),
  uri: Type.String({ description: "Content of the QR code: `otpauth://…`." }),
});
export const backupCodesSchema = Type.Object({ backup_codes: Type.Array(Type.String()) });

export const passkeySchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  created_at: moment,
  last_used_at: Type.Union([moment, Type.Null()]),
});
export const passkeyListSchema = Type.Object({ data: Type.Array(passkeySchema) });

/** The WebAuthn library validates these; only the outline is checked here. */
export const passkeyOptionsSchema = Type.Record(Type.String(), Type.Unknown(), {
  description: "For `PublicKeyCredential.parseRequestOptionsFromJSON` or `parseCreationOptionsFromJSON`.",
});

const credentialText = Type.String({ minLength: 1, maxLength: 20_000 });
const credentialFields = {
  id: Type.String({ minLength: 1, maxLength: 2000 }),
  rawId: Type.String({ minLength: 1, maxLength: 2000 }),
  type: Type.Literal("public-key"),
};

export const passkeyUseField = Type.Unsafe<AuthenticationResponseJSON>(
  Type.Object({
    ...credentialFields,
    response: Type.Object({
      clientDataJSON: credentialText,
      authenticatorData: credentialText,
      signature: credentialText,
    }),
  }),
);

export const passkeyAdditionField = Type.Unsafe<RegistrationResponseJSON>(
  Type.Object({
    ...credentialFields,
    response: Type.Object({
      clientDataJSON: credentialText,
      attestationObject: credentialText,
      transports: Type.Optional(Type.Array(Type.String({ maxLength: 40 }), { maxItems: 10 })),
    }),
  }),
);

export const outboxSchema = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.String(),
      to: Type.String(),
      subject: Type.String(),
      text: Type.String(),
      links: Type.Array(Type.String()),
      at: moment,
    }),
  ),
});
