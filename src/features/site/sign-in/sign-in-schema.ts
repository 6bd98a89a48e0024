import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { type TProperties, Type } from "typebox";

/** A body with these fields and no others. */
export function body<const P extends TProperties>(fields: P) {
  return Type.Object(fields, { additionalProperties: false });
}

export const emailField = Type.String({ minLength: 1, maxLength: 254 });
/** Anything longer is nobody's password, and would only be work. */
export const passwordField = Type.String({ minLength: 1, maxLength: 256 });
export const newPasswordField = Type.String({
  maxLength: 256,
  description: "8 to 256 characters; those that everybody tries first are refused.",
});
export const codeField = Type.String({ minLength: 1, maxLength: 40 });
export const tokenField = Type.String({ minLength: 1, maxLength: 200, description: "From the link in the mail." });

export const moment = Type.String({ format: "date-time" });

/** What is left to do after a step of signing in. */
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
  has_outbox: Type.Boolean({ description: "Whether mails can be read at `GET /outbox`." }),
  currency: Type.String(),
  base_url: Type.String({ description: "Where programs reach the API." }),
  payments: Type.Enum(["stripe", "none"], { description: "How people can pay by card." }),
  payment_amount_min: Type.String({ description: "The least that can be paid at a time." }),
  payment_amount_max: Type.String({ description: "The most that can be paid at a time." }),
  content_log_days: Type.Integer({
    minimum: 0,
    description: "How long contents of requests are kept, of keys that have their content log on; 0 where none can.",
  }),
  support_contact: Type.Union([Type.String(), Type.Null()], {
    description: "Whom to ask for credit and for help: an e-mail address, or the address of a page.",
  }),
});

export const sessionSchema = Type.Object({
  user: Type.Object({
    id: Type.String(),
    email: Type.String(),
    name: Type.Union([Type.String(), Type.Null()]),
    is_email_verified: Type.Boolean(),
    is_operator: Type.Boolean(),
    has_password: Type.Boolean(),
    has_totp: Type.Boolean(),
    passkey_count: Type.Integer(),
  }),
  account: Type.Object({
    id: Type.String(),
    time_zone: Type.String({ description: "In which the account's days begin and end." }),
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
  secret: Type.String({ description: "In base32, for apps that cannot read the image." }),
  uri: Type.String({ description: "What the picture holds: `otpauth://…`." }),
});
export const backupCodesSchema = Type.Object({ backup_codes: Type.Array(Type.String()) });

export const passkeySchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  created_at: moment,
  last_used_at: Type.Union([moment, Type.Null()]),
});
export const passkeyListSchema = Type.Object({ data: Type.Array(passkeySchema) });

/** What a browser is given and gives back is between it and the library; only its outline is ours to check. */
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
