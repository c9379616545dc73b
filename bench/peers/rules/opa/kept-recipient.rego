package agent.call

import rego.v1

# A write whose identifying argument the user did not type, and that is not the whole field of a record either.
default decision := {"decision": "allow"}

decision := {"decision": "requires-approval", "reason": "the user did not name it"} if {
	not input.runtimeContext.tools[input.tool.name].readOnly
	some value in identifying
	not typed(value)
	not value in kept
}

identifying contains lower(sprintf("%v", [value])) if {
	some name in input.runtimeContext.tools[input.tool.name].identifying
	some value in array.concat([input.args[name]], items(input.args[name]))
	not is_array(value)
	not is_object(value)
	not is_boolean(value)
	not is_null(value)
}

items(value) := [item | some item in value]

typed(value) if {
	some message in input.messages
	message.role == "user"
	some part in message.content
	contains(lower(part.text), value)
}

# What tools returned, as JSON or as YAML; some clients put marks around it. Fields four deep: rules do not recurse, and
# `walk` is not to be had everywhere.
documents := [document |
	some message in input.messages
	message.role == "tool"
	some part in message.content
	document := yaml.unmarshal(trim_suffix(trim_prefix(part.output.value, "<<"), ">>"))
]

within(values) := [item | some value in values; some item in value]

kept contains lower(sprintf("%v", [field])) if {
	first := within(documents)
	second := within(first)
	third := within(second)
	some field in array.concat(documents, array.concat(first, array.concat(second, array.concat(third, within(third)))))
	not is_object(field)
	not is_array(field)
}
