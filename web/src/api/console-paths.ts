// Written by `npm run generate` from docs/api/console-openapi.json. Change the routes' schemas, not this file.
// The names at the top follow what openapi-fetch expects.

export type paths = {
  "/site": {
    get: {
      parameters: Record<never, never>;
      responses: {
        200: { content: {
          "application/json": {
            sign_up: "open" | "invite" | "closed";
            providers: ({
              id: string;
              name: string;
            })[];
            mail: "smtp" | "outbox";
            has_outbox: boolean;
            currency: string;
          };
        } };
      };
    };
  };
  "/session": {
    get: {
      parameters: Record<never, never>;
      responses: {
        200: { content: {
          "application/json": {
            user: {
              id: string;
              email: string;
              name: string | null;
              is_email_verified: boolean;
              is_operator: boolean;
              has_password: boolean;
              has_totp: boolean;
              passkey_count: number;
            };
            account: {
              id: string;
            };
            session: {
              id: string;
              created_at: string;
              fresh_until: string;
            };
          };
        } };
      };
    };
  };
  "/outbox": {
    get: {
      parameters: Record<never, never>;
      responses: {
        200: { content: {
          "application/json": {
            data: ({
              id: string;
              to: string;
              subject: string;
              text: string;
              links: (string)[];
              at: string;
            })[];
          };
        } };
      };
    };
  };
  "/sign-up": {
    post: {
      parameters: Record<never, never>;
      requestBody: { content: {
        "application/json": {
          email: string;
          password: string;
          invite?: string;
        };
      } };
      responses: {
        202: { content: {
          "application/json": {
            kind: "verify-email";
          };
        } };
      };
    };
  };
  "/email/verify": {
    post: {
      parameters: Record<never, never>;
      requestBody: { content: {
        "application/json": {
          token: string;
          password?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            kind: "signed-in";
          };
        } };
      };
    };
  };
  "/email/resend": {
    post: {
      parameters: Record<never, never>;
      requestBody: { content: {
        "application/json": {
          email: string;
        };
      } };
      responses: {
        202: { content: {
          "application/json": {
            kind: "accepted";
          };
        } };
      };
    };
  };
  "/sign-in": {
    post: {
      parameters: Record<never, never>;
      requestBody: { content: {
        "application/json": {
          email: string;
          password: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            kind: "signed-in";
          } | {
            kind: "second-factor";
            methods: ("totp" | "backup-code")[];
          } | {
            kind: "verify-email";
          };
        } };
      };
    };
  };
  "/sign-in/totp": {
    post: {
      parameters: Record<never, never>;
      requestBody: { content: {
        "application/json": {
          code: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            kind: "signed-in";
          };
        } };
      };
    };
  };
  "/sign-in/backup-code": {
    post: {
      parameters: Record<never, never>;
      requestBody: { content: {
        "application/json": {
          code: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            kind: "signed-in";
          };
        } };
      };
    };
  };
  "/sign-in/passkey/options": {
    post: {
      parameters: Record<never, never>;
      requestBody: { content: {
        "application/json": Record<never, never>;
      } };
      responses: {
        200: { content: {
          "application/json": Record<string, unknown>;
        } };
      };
    };
  };
  "/sign-in/passkey": {
    post: {
      parameters: Record<never, never>;
      requestBody: { content: {
        "application/json": {
          response: {
            id: string;
            rawId: string;
            type: "public-key";
            response: {
              clientDataJSON: string;
              authenticatorData: string;
              signature: string;
            };
          };
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            kind: "signed-in";
          };
        } };
      };
    };
  };
  "/reauthenticate": {
    post: {
      parameters: Record<never, never>;
      requestBody: { content: {
        "application/json": {
          password?: string;
          code?: string;
          passkey?: {
            id: string;
            rawId: string;
            type: "public-key";
            response: {
              clientDataJSON: string;
              authenticatorData: string;
              signature: string;
            };
          };
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            fresh_until: string;
          };
        } };
      };
    };
  };
  "/sign-out": {
    post: {
      parameters: Record<never, never>;
      requestBody: { content: {
        "application/json": Record<never, never>;
      } };
      responses: {
        204: { content?: never };
      };
    };
  };
  "/sessions": {
    get: {
      parameters: Record<never, never>;
      responses: {
        200: { content: {
          "application/json": {
            data: ({
              id: string;
              is_current: boolean;
              created_at: string;
              last_seen_at: string;
              user_agent: string;
              address: string;
            })[];
          };
        } };
      };
    };
    delete: {
      parameters: Record<never, never>;
      responses: {
        204: { content?: never };
      };
    };
  };
  "/sessions/{id}": {
    delete: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        204: { content?: never };
      };
    };
  };
  "/password/forgot": {
    post: {
      parameters: Record<never, never>;
      requestBody: { content: {
        "application/json": {
          email: string;
        };
      } };
      responses: {
        202: { content: {
          "application/json": {
            kind: "accepted";
          };
        } };
      };
    };
  };
  "/password/reset": {
    post: {
      parameters: Record<never, never>;
      requestBody: { content: {
        "application/json": {
          token: string;
          password: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            kind: "accepted";
          };
        } };
      };
    };
  };
  "/password": {
    post: {
      parameters: Record<never, never>;
      requestBody: { content: {
        "application/json": {
          current_password?: string;
          new_password: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            kind: "accepted";
          };
        } };
      };
    };
  };
  "/totp": {
    post: {
      parameters: Record<never, never>;
      requestBody: { content: {
        "application/json": Record<never, never>;
      } };
      responses: {
        200: { content: {
          "application/json": {
            secret: string;
            uri: string;
          };
        } };
      };
    };
    delete: {
      parameters: Record<never, never>;
      responses: {
        204: { content?: never };
      };
    };
  };
  "/totp/confirm": {
    post: {
      parameters: Record<never, never>;
      requestBody: { content: {
        "application/json": {
          code: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            backup_codes: (string)[];
          };
        } };
      };
    };
  };
  "/totp/backup-codes": {
    post: {
      parameters: Record<never, never>;
      requestBody: { content: {
        "application/json": Record<never, never>;
      } };
      responses: {
        200: { content: {
          "application/json": {
            backup_codes: (string)[];
          };
        } };
      };
    };
  };
  "/passkeys/options": {
    post: {
      parameters: Record<never, never>;
      requestBody: { content: {
        "application/json": Record<never, never>;
      } };
      responses: {
        200: { content: {
          "application/json": Record<string, unknown>;
        } };
      };
    };
  };
  "/passkeys": {
    post: {
      parameters: Record<never, never>;
      requestBody: { content: {
        "application/json": {
          name: string;
          response: {
            id: string;
            rawId: string;
            type: "public-key";
            response: {
              clientDataJSON: string;
              attestationObject: string;
              transports?: (string)[];
            };
          };
        };
      } };
      responses: {
        201: { content: {
          "application/json": {
            id: string;
            name: string;
            created_at: string;
            last_used_at: string | null;
          };
        } };
      };
    };
    get: {
      parameters: Record<never, never>;
      responses: {
        200: { content: {
          "application/json": {
            data: ({
              id: string;
              name: string;
              created_at: string;
              last_used_at: string | null;
            })[];
          };
        } };
      };
    };
  };
  "/passkeys/{id}": {
    delete: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        204: { content?: never };
      };
    };
  };
  "/connect/requests/{id}": {
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            client: string;
            redirect_host: string | null;
            replaces: {
              created_at: string;
              last_four: string;
            } | null;
            expires_at: string;
            uses_code: boolean;
            kind: "browser" | "device";
          };
        } };
      };
    };
  };
  "/connect/requests/{id}/approve": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          expires_in_days?: number;
          budget?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            kind: "browser" | "device";
            callback_url?: string;
          };
        } };
      };
    };
  };
  "/connect/requests/{id}/deny": {
    post: {
      parameters: {
        path: {
          id: string;
        };
      };
      requestBody: { content: {
        "application/json": Record<never, never>;
      } };
      responses: {
        200: { content: {
          "application/json": {
            callback_url: string | null;
          };
        } };
      };
    };
  };
  "/connect/requests/{id}/status": {
    get: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            state: "waiting" | "delivered" | "denied" | "expired";
          };
        } };
      };
    };
  };
  "/connect/device/lookup": {
    post: {
      parameters: Record<never, never>;
      requestBody: { content: {
        "application/json": {
          user_code: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            request_id: string;
          };
        } };
      };
    };
  };
  "/connected-clients": {
    get: {
      parameters: Record<never, never>;
      responses: {
        200: { content: {
          "application/json": {
            data: ({
              id: string;
              client: string;
              created_at: string;
              expires_at: string | null;
              last_used_at: string | null;
              last_four: string;
            })[];
          };
        } };
      };
    };
  };
  "/connected-clients/{id}": {
    delete: {
      parameters: {
        path: {
          id: string;
        };
      };
      responses: {
        204: { content?: never };
      };
    };
  };
};
