// Prints Java's own answers to the table in test_java_patterns.py: one line a pattern, one character a text.
//     java JavaPatterns.java PATTERNS TEXTS
// Each file has an entry a line; %XXXX stands for the character of that code.
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

public class JavaPatterns {
    static String read(String line) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < line.length(); i++) {
            if (line.charAt(i) == '%' && i + 4 < line.length() + 1) {
                out.append((char) Integer.parseInt(line.substring(i + 1, i + 5), 16));
                i += 4;
            } else {
                out.append(line.charAt(i));
            }
        }
        return out.toString();
    }

    public static void main(String[] args) throws Exception {
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            StringBuilder answers = new StringBuilder();
            try {
                Pattern pattern = Pattern.compile(read(line));
                for (String text : Files.readAllLines(Path.of(args[1]))) {
                    answers.append(pattern.matcher(read(text)).matches() ? '1' : '0');
                }
            } catch (PatternSyntaxException error) {
                answers.append("error");
            }
            System.out.println(answers);
        }
    }
}
